/** The columns of a bracket: a round each, with a card for each slot. Pure: it needs no browser. */
import type { ContestMeeting } from '../api/types';

export interface BracketColumn {
  /** Of the contest; null: it is not planned yet. */
  round: number | null;
  /** By slot from the top; null: a bye, or a meeting that is not planned yet. */
  cards: (ContestMeeting | null)[];
}

export interface BracketSide {
  side: 'winners' | 'losers' | 'final';
  columns: BracketColumn[];
}

const SIDES = ['winners', 'losers', 'final'] as const;

/** The sides of a bracket that have meetings. The winners' side is drawn to its end, since its size is known. */
export function bracketSides(meetings: readonly ContestMeeting[]): BracketSide[] {
  return SIDES.map((side) => ({ side, columns: columnsOf(meetings.filter(({ place }) => place?.side === side), side === 'winners') })).filter(({ columns }) => columns.length);
}

function columnsOf(meetings: readonly ContestMeeting[], toTheEnd: boolean): BracketColumn[] {
  const columns: BracketColumn[] = [];
  for (const meeting of meetings) {
    if (columns.at(-1)?.round !== meeting.round) columns.push({ round: meeting.round, cards: Array(meeting.place!.slots).fill(null) });
    columns.at(-1)!.cards[meeting.place!.slot] = meeting;
  }
  while (toTheEnd && columns.length && columns.at(-1)!.cards.length > 1) columns.push({ round: null, cards: Array(columns.at(-1)!.cards.length / 2).fill(null) });
  return columns;
}

/** How a column leads to the next one: two cards to one, one to one, or nowhere. */
export function leadsTo(column: BracketColumn, next: BracketColumn | undefined): 'pair' | 'same' | 'end' {
  if (!next) return 'end';
  return next.cards.length === column.cards.length ? 'same' : 'pair';
}
