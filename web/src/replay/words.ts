/** Events in words, for the list beside the board. */
import type { BoardResult, Cause, MatchEvent } from './film';

export const CAUSES: Record<Cause, string> = {
  complete: 'the game was played to its end',
  'illegal moves': 'illegal moves',
  timeout: 'no move in time',
  disconnect: 'disconnected',
  resigned: 'resigned',
  crash: 'the program crashed',
  flood: 'too many messages',
  unreadable: 'a message that is not JSON',
  expelled: 'expelled',
  aborted: 'the match was aborted',
};

/** `named`: the name of a player by its number; `moveInWords`: a move in words, if the game has them; `happened`: the marks of the step; `silent`: a step without a public move. */
export function eventInWords(
  event: MatchEvent,
  named: (player: number) => string,
  moveInWords: (move: unknown) => string = (move) => JSON.stringify(move),
  happened: readonly string[] = [],
  silent = 'No public move.',
): string {
  switch (event.event) {
    case 'began':
      return `Board ${event.board + 1} begins: ${listed(event.order.map(named))}.`;
    case 'played':
      return played(event.moves, named, moveInWords, happened) || silent;
    case 'refused':
      return `${named(event.player)}: a move was refused${event.strikes ? ` (illegal move ${event.strikes})` : ''}: ${event.why}.`;
    case 'late':
      return `${named(event.player)}: a move came ${event.by} ms too late.`;
    case 'out':
      return `${named(event.player)} is out: ${CAUSES[event.cause]}${event.detail ? ` (${event.detail})` : ''}.`;
    case 'left':
      return `${named(event.player)} is gone.`;
    case 'returned':
      return `${named(event.player)} is back.`;
    case 'amended':
      return `The options change: ${Object.entries(event.options).map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ')}.`;
    case 'board ended':
      return `Board ${event.board + 1} ends: ${outcome(event.result, named)}.`;
    case 'ended':
      return `The match ends: ${outcome(event.result, named)}.`;
  }
}

/** The result in words: `ada wins (3 : 1)`. */
export function outcome({ places, scores, causes }: BoardResult, named: (player: number) => string): string {
  if (causes.includes('aborted')) return 'aborted, so that it counts for nobody';
  const first = places.flatMap((place, player) => (place === 1 ? [named(player)] : []));
  const won = first.length === 1 ? `${first[0]} wins` : `${listed(first)} share the first place`;
  return `${won} (${scores.map(rounded).join(' : ')})`;
}

/** What happened, then the moves. */
function played(
  moves: Record<string, unknown>,
  named: (player: number) => string,
  moveInWords: (move: unknown) => string,
  happened: readonly string[],
): string {
  const told = Object.entries(moves).flatMap(([player, move]) => {
    const words = moveInWords(move);
    return words ? [`${named(Number(player))}: ${words}`] : [];
  });
  return [...happened, ...(told.length ? [told.join('; ')] : [])].map((words) => `${words}.`).join(' ');
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function rounded(score: number): string {
  return String(Math.round(score * 100) / 100);
}
