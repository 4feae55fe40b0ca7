/** Change: how one JSON value becomes another, as docs/watching.md describes it. */

/** `[value]`: in place of the old one; `[]`: removed; an object: by key or index, what changes inside. */
export type Change = readonly unknown[] | { readonly [key: string]: Change };

/** The value after a change. Unchanged parts are shared with the old value, which is not modified. */
export function applied(change: Change, old: unknown): unknown {
  if (isValue(change)) return change[0];
  return Array.isArray(old) ? inArray(change, old) : inObject(change, old as Record<string, unknown>);
}

function inArray(change: { readonly [key: string]: Change }, old: readonly unknown[]): unknown[] {
  const now = [...old];
  for (const [key, part] of Object.entries(change)) {
    if (key === 'length') now.length = Number((part as readonly unknown[])[0]);
    else now[Number(key)] = applied(part, now[Number(key)]);
  }
  return now;
}

function inObject(change: { readonly [key: string]: Change }, old: Record<string, unknown>): Record<string, unknown> {
  const now = { ...old };
  for (const [key, part] of Object.entries(change)) {
    if (isValue(part) && part.length === 0) delete now[key];
    else now[key] = applied(part, now[key]);
  }
  return now;
}

function isValue(change: Change): change is readonly unknown[] {
  return Array.isArray(change);
}
