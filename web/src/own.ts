/** Return the table's own value for a key. Keys come from users, and a key like `constructor` would find an inherited value. */
export function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
