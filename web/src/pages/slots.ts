/** Slots: the places of live matches on the screen, so that boards stay in place while others come and go. */

export interface Slot<T extends { id: string }> {
  table: T;
  /** The number of rounds since it ended. */
  over: number;
}

/** Rounds for which the last position of a match that is over stays. */
const STAYS = 3;

/** Newcomers take the places of matches that are over; else they go to the end, while there is room. */
export function slotsAfter<T extends { id: string }>(before: readonly Slot<T>[], tables: readonly T[], most: number): Slot<T>[] {
  const live = new Map(tables.map((table) => [table.id, table]));
  const slots = before.map(({ table, over }) => (live.has(table.id) ? { table, over: 0 } : { table, over: over + 1 }));
  const shown = new Set(before.map(({ table }) => table.id));
  for (const table of [...tables].reverse()) {
    if (shown.has(table.id)) continue;
    const free = slots.findIndex(({ over }) => over > 0);
    if (free >= 0) slots[free] = { table, over: 0 };
    else if (slots.length < most) slots.push({ table, over: 0 });
    else break;
  }
  return slots.filter(({ over }) => over <= STAYS);
}
