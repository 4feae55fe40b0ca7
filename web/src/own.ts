/** What a table itself holds under a key. Names and paths come from anybody: `constructor` is in every object, and in no table. */
export function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
