/** Contests with a document, in words. Pure: it needs no browser. */
import type { ContestMeeting, DocumentedContest, Fixture, ListedContest, Round } from '../api/types';

export const FORMAT_TITLES: Record<string, string> = {
  'round-robin': 'Round robin',
  gauntlet: 'Gauntlet',
  knockout: 'Knockout',
  'double-elimination': 'Double elimination',
  swiss: 'Swiss',
  ladder: 'Ladder',
  groups: 'Groups, then knockout',
};

export const TIE_BREAK_TITLES: Record<string, string> = {
  direct: 'Direct',
  opponents: 'Opponents',
  'sonneborn-berger': 'Sonneborn-Berger',
  wins: 'Wins',
  games: 'Games',
};

/** The hash of a contest's address that leads to the form for entry. */
export const ENTER = '#enter';

/** Milliseconds between two looks at a contest. A large one costs the server more, and one that is over does not change. */
export function lookEvery(contest: DocumentedContest | null): number {
  return contest && (contest.entrants.length > 200 || contest.state === 'over') ? 16_000 : 4000;
}

/** The parts of the document that the pages show. Keys with their default values are left out by the server. */
export interface ShownDocument {
  title?: string;
  owner?: string;
  format: string;
  players?: number;
  advance?: number;
  start?: string;
  end?: string;
  entry?: { kind?: string; bots?: string[]; per_owner?: number | null; most?: number | null; late?: boolean };
}

export function documentOf(contest: DocumentedContest): ShownDocument {
  return contest.document as unknown as ShownDocument;
}

const STAGES: Record<number, string> = { 1: 'Final', 2: 'Semi-finals', 4: 'Quarter-finals' };

/** The stage of a knockout in which a round has this many meetings. */
export function stageTitle(meetings: number): string {
  return STAGES[meetings] ?? `Round of ${2 * meetings}`;
}

/** A round of the losers' bracket, from 1, if the winners' bracket has `depth` rounds. */
export function losersTitle(round: number, depth: number): string {
  return round === 2 * depth - 2 ? 'Losers’ final' : `Losers’ round ${round}`;
}

/** `first`: the first round of the contest. */
export function roundTitle({ format, players = 2 }: ShownDocument, round: Round, first: Round): string {
  const [title, { number }] = [`Round ${round.number}`, round];
  if (format === 'groups' && number === 1) return `${title}: group stage`;
  if (players !== 2 || !['knockout', 'groups', 'double-elimination'].includes(format)) return title;
  if (format !== 'double-elimination') return `${title}: ${lowered(stageTitle(pairsOf(round)))}`;
  const depth = Math.log2(pairsOf(first)) + 1;
  if (number >= 2 * depth) return `${title}: grand final${number > 2 * depth ? ', played again' : ''}`;
  const parts = [number <= depth && `winners’ ${lowered(stageTitle(pairsOf(first) / 2 ** (number - 1)))}`, number > 1 && lowered(losersTitle(number - 1, depth))];
  return `${title}: ${parts.filter(Boolean).join(', ')}`;
}

/** The pairs of a round of a knockout, with those in which a bot has a bye. */
function pairsOf({ meetings, byes }: Round): number {
  return 2 ** (Math.ceil(Math.log2(2 * meetings + byes.length)) - 1);
}

function lowered(title: string): string {
  return title.charAt(0).toLowerCase() + title.slice(1);
}

/** `ada`, or `ada and bob`. */
export function listed(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '');
}

/** The bot that won a meeting; null: it is not decided, or level. */
export function winnerOf({ bots, scores, games, winner }: Pick<ContestMeeting, 'bots' | 'scores' | 'games' | 'winner'>): string | null {
  if (winner !== null) return winner;
  const best = Math.max(...scores);
  const decided = games.every(({ result }) => result) && scores.filter((score) => score === best).length === 1;
  return decided ? bots[scores.indexOf(best)]! : null;
}

/** `1½`, `3`, `0.67`. */
export function points(score: number): string {
  const whole = Math.floor(score);
  if (score === whole) return String(whole);
  return score - whole === 0.5 ? `${whole || ''}½` : score.toFixed(2);
}

/** The result of a match: `1–0` in the order of these bots, or the winner at larger tables. */
export function resultWords({ bots, result }: Fixture, order: readonly string[], over = false): string {
  if (!result) return over ? 'not played' : 'to play';
  const { places } = result;
  if (!places.length) return 'not counted';
  if (order.length === 2) return order.map((bot) => pairPoints(places, bots.indexOf(bot))).join('–');
  const winners = bots.filter((_, seat) => places[seat] === 1);
  return winners.length === 1 ? winners[0]! : `draw of ${winners.length}`;
}

function pairPoints(places: readonly number[], seat: number): string {
  const [mine, other] = [places[seat]!, places[1 - seat]!];
  return mine === other ? '½' : mine < other ? '1' : '0';
}

/** The bots of a match that did not come, or were put out by a fault. */
export function faultWords({ bots, result }: Fixture): string {
  const named = (seats: readonly number[] | undefined) => (seats ?? []).map((seat) => bots[seat]).join(', ');
  const [absent, crashed] = [named(result?.absent), named(result?.crashed)];
  return [absent && `no-show: ${absent}`, crashed && `crash: ${crashed}`].filter(Boolean).join('; ');
}

/** The rules of entry, a sentence each. */
export function entryRules({ entry = {} }: ShownDocument): string[] {
  const kinds: Record<string, string> = { open: 'Any registered bot of the game may enter.', list: `Only these bots may enter: ${(entry.bots ?? []).join(', ')}.`, password: 'Entrants need the password of the contest.' };
  return [
    kinds[entry.kind ?? 'open'] ?? '',
    entry.per_owner ? `An owner may enter ${entry.per_owner === 1 ? 'one bot' : `${entry.per_owner} bots`}.` : '',
    entry.most ? `There is room for ${entry.most.toLocaleString()} bots.` : '',
    entry.late ? 'Bots may enter after the start.' : '',
  ].filter(Boolean);
}

/** How bots enter a listed contest; empty: it takes no more. */
export function entryHint({ state, entry, late }: Pick<ListedContest, 'state' | 'entry' | 'late'>): string {
  if (state !== 'open' && !(late && (state === 'running' || state === 'paused'))) return '';
  return { list: 'bots on its list can enter', password: 'enter with its password' }[entry] ?? 'enter a bot';
}

/** Whether bots can enter now. */
export function takesEntries(contest: DocumentedContest): boolean {
  const late = documentOf(contest).entry?.late === true;
  return contest.state === 'open' || (late && (contest.state === 'running' || contest.state === 'paused'));
}
