/** Slots: the places of live matches on the screen, so that boards stay in place while others come and go. */

interface Placeable {
  id: string;
  game: string;
}

export interface Slot<T extends Placeable> {
  table: T;
  /** The number of rounds since it ended. */
  over: number;
}

/** Rounds for which the end of the featured match is shown. */
const STAYS = 2;

/** Newcomers take the places of matches that are over, and go to the end while there is room; those of the rarest game come first.
 *
 * A match that is over stays until then. Every game that is live has a place, if need be that of a match of another game.
 */
export function slotsAfter<T extends Placeable>(before: readonly Slot<T>[], tables: readonly T[], most: number): Slot<T>[] {
  const live = new Set(tables.map(({ id }) => id));
  const slots = before.map(({ table, over }) => ({ table, over: live.has(table.id) ? 0 : over + 1 }));
  const shown = new Set(before.map(({ table }) => table.id));
  const waiting = tables.filter(({ id }) => !shown.has(id)).reverse();
  while (waiting.length) {
    const counts = countsOf(slots);
    const rarest = Math.min(...waiting.map(({ game }) => counts.get(game) ?? 0));
    const place = freePlace(slots, most, rarest === 0 ? counts : null);
    if (place === null) break;
    const [next] = waiting.splice(waiting.findIndex(({ game }) => (counts.get(game) ?? 0) === rarest), 1);
    slots[place] = { table: next!, over: 0 };
  }
  return slots;
}

/** How many live matches of each game have places. */
function countsOf(slots: readonly Slot<Placeable>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { table, over } of slots) if (over === 0) counts.set(table.game, (counts.get(table.game) ?? 0) + 1);
  return counts;
}

/** A place for a newcomer; null: there is none. `counts`: its game has no place yet, so it may take one of a game with several. */
function freePlace(slots: readonly Slot<Placeable>[], most: number, counts: Map<string, number> | null): number | null {
  const over = slots.findIndex((slot) => slot.over > 0);
  if (over >= 0) return over;
  if (slots.length < most) return slots.length;
  const largest = Math.max(...(counts?.values() ?? [0]));
  return largest > 1 ? slots.findLastIndex(({ table }) => counts?.get(table.game) === largest) : null;
}

/** The featured match: the pinned one, or the strongest, which stays until it is over and its end was seen. */
export function featuredAfter<T extends Placeable>(before: Slot<T> | null, tables: readonly T[], strength: (table: T) => number, pinned: T | null): Slot<T> | null {
  if (pinned) return { table: pinned, over: 0 };
  if (before) {
    const over = tables.some(({ id }) => id === before.table.id) ? 0 : before.over + 1;
    if (over <= STAYS || tables.length === 0) return { table: before.table, over };
  }
  const best = tables.reduce<T | null>((found, table) => (found && strength(found) >= strength(table) ? found : table), null);
  return best && { table: best, over: 0 };
}
