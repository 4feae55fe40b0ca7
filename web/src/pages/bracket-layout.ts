/** The layout of a bracket: its sides, each with a column for each round and a box for each slot. Pure: it needs no browser. */
import type { BracketPlace, ContestBracket, ContestMeeting } from '../api/types';
import { losersTitle, stageTitle } from './contest-words';

export interface BracketBox {
  /** One: it has a bye. None: they are not known yet. */
  bots: readonly string[];
  meeting: ContestMeeting | null;
}

export interface BracketColumn {
  title: string;
  /** By slot from the top; null: nobody is here. */
  boxes: (BracketBox | null)[];
}

export interface BracketSide {
  side: BracketPlace['side'];
  title: string;
  columns: BracketColumn[];
}

const TO_COME: BracketBox = { bots: [], meeting: null };

/** The sides of a bracket, drawn to the final; none before its first round. */
export function bracketSides({ format, meetings, byes }: ContestBracket): BracketSide[] {
  const known = [...meetings.map((meeting) => ({ ...meeting, place: meeting.place!, box: { bots: meeting.bots, meeting } })), ...byes.map(({ bot, ...bye }) => ({ ...bye, box: { bots: [bot], meeting: null } }))];
  if (!known.length) return [];
  const [first, latest] = [Math.min(...known.map(({ round }) => round)), Math.max(...known.map(({ round }) => round))];
  const half = Math.max(...known.map(({ place }) => (place.side === 'winners' ? place.slots : 1)));
  const depth = Math.log2(half) + 1;
  const double = format === 'double-elimination';
  const column = (side: BracketPlace['side'], round: number, slots: number, title: string): BracketColumn => {
    const boxes: (BracketBox | null)[] = Array(slots).fill(round > latest ? TO_COME : null);
    for (const one of known) if (one.round === round && one.place.side === side) boxes[one.place.slot] = one.box;
    return { title, boxes };
  };
  const columns = (count: number, make: (at: number) => BracketColumn) => Array.from({ length: count }, (_, at) => make(at));
  const winners = columns(depth, (at) => column('winners', first + at, half / 2 ** at, double && at === depth - 1 ? 'Winners’ final' : stageTitle(half / 2 ** at)));
  if (!double) return [{ side: 'winners', title: 'Bracket', columns: winners }];
  const last = first + 2 * depth - 1;
  return [
    { side: 'winners', title: 'Winners’ bracket', columns: winners },
    { side: 'losers', title: 'Losers’ bracket', columns: columns(2 * depth - 2, (at) => column('losers', first + 1 + at, half / 2 ** Math.ceil((at + 1) / 2), losersTitle(at + 1, depth))) },
    { side: 'final', title: 'Grand final', columns: columns(latest > last ? 2 : 1, (at) => column('final', last + at, 1, at ? 'Played again' : '')) },
  ];
}

/** How a column leads to the next one: two boxes to one, one to one, or nowhere. */
export function leadsTo(column: BracketColumn, next: BracketColumn | undefined): 'pair' | 'same' | 'end' {
  if (!next) return 'end';
  return next.boxes.length === column.boxes.length ? 'same' : 'pair';
}

/** The last columns whose boxes fit a screen; null: nobody has come that far yet. */
export function lastColumns(columns: readonly BracketColumn[], most: number): BracketColumn[] | null {
  const fit = columns.filter(({ boxes }) => boxes.length <= most);
  return fit.some(({ boxes }) => boxes.some((box) => box?.bots.length)) ? fit : null;
}
