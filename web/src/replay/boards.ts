/** Boards: where each board of a match begins. */
import type { Film } from './film';

/** How many steps of the match are played when a board begins, and one more: its first stone. */
export function firstStep(film: Film, board: number): number {
  let steps = 0;
  for (let index = 0; index < film.length; index++) {
    const { event } = film.frame(index);
    if (event?.event === 'played') steps = event.step + 1;
    if (event?.event === 'began' && event.board === board) return steps + 1;
  }
  return 0;
}
