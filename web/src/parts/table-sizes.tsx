/** The table size of the ratings that are shown, and links to the others: each size has ratings of its own. */
export function TableSizes({ shown, sizes, name }: { shown: number | null; sizes: readonly number[]; name: string }) {
  if (shown === null || (shown === 2 && sizes.every((size) => size === 2))) return null;
  return (
    <> · tables of {shown}
      {sizes.filter((size) => size !== shown).map((size) => <span key={size}> · <a href={`?${name}=${size}`}>tables of {size}</a></span>)}
    </>
  );
}
