/** The table size of the ratings that are shown, and links to the others: each size has ratings of its own. */
import { query } from '../router';

export function TableSizes({ shown, sizes, name }: { shown: number | null; sizes: readonly number[]; name: string }) {
  if (shown === null || (shown === 2 && sizes.every((size) => size === 2))) return null;
  return (
    <> · tables of {shown}
      {sizes.filter((size) => size !== shown).map((size) => <span key={size}> · <a href={elsewhere(name, String(size))}>tables of {size}</a></span>)}
    </>
  );
}

/** The address of the same page with another value. What depends on it is left out. */
export function elsewhere(name: string, value: string, ...dependent: string[]): string {
  const all = new URLSearchParams(query.value);
  for (const one of dependent) all.delete(one);
  all.set(name, value);
  return `?${all}`;
}
