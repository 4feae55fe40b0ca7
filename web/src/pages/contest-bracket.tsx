/** The bracket of a knockout, of a double elimination, or after groups. */
import type { ComponentChildren } from 'preact';
import type { ContestBracket, DocumentedContest, Live, Table } from '../api/types';
import { useRest } from '../api/use';
import { BotLink, MatchLink } from '../parts/links';
import { bracketSides, leadsTo, type BracketBox, type BracketColumn, type BracketSide } from './bracket-layout';
import { Games } from './contest-rounds';
import { documentOf, lookEvery, points, winnerOf } from './contest-words';

export function hasBracket(contest: DocumentedContest): boolean {
  const { format, players = 2 } = documentOf(contest);
  return players === 2 && (['knockout', 'double-elimination'].includes(format) ? contest.rounds.length > 0 : format === 'groups' && contest.rounds.length > 1);
}

export function bracketPath({ name }: DocumentedContest): string {
  return `/contest-brackets/${encodeURIComponent(name)}`;
}

export function BracketSection({ contest, first }: { contest: DocumentedContest; first: ContestBracket | null }) {
  const { value } = useRest<ContestBracket>(bracketPath(contest), lookEvery(contest), first);
  const live = useRest<Live>(contest.state === 'running' ? `/live?game=${encodeURIComponent(contest.game)}` : null, lookEvery(contest));
  const sides = value ? bracketSides(value) : [];
  if (!sides.length) return null;
  return (
    <section aria-labelledby="bracket">
      <h2 id="bracket">Bracket</h2>
      <div class="bracket-frame" role="group" aria-label="Bracket, scrolls sideways" tabIndex={0}>
        <Bracket sides={sides} below={(box) => <Matches box={box} contest={contest} tables={live.value?.tables ?? []} />} />
      </div>
    </section>
  );
}

/** `below`: what a box has under its names. Without it, names are no links. */
export function Bracket({ sides, below }: { sides: readonly BracketSide[]; below?: (box: BracketBox) => ComponentChildren }) {
  return (
    <div class={sides.length > 1 ? 'bracket double' : 'bracket'}>
      {sides.map(({ side, title, columns }) => columns.length > 0 && (
        <div key={side} class={`bracket-side side-${side}`}>
          {sides.length > 1 && <h3>{title}</h3>}
          <div class="bracket-columns">{columns.map((column, at) => <Column key={at} column={column} next={columns[at + 1]} below={below} />)}</div>
        </div>
      ))}
    </div>
  );
}

function Column({ column, next, below }: { column: BracketColumn; next: BracketColumn | undefined; below: ((box: BracketBox) => ComponentChildren) | undefined }) {
  return (
    <div class="bracket-column">
      {column.title && <p class="quiet">{column.title}</p>}
      <ol class={`bracket-round leads-${leadsTo(column, next)}`} style={{ gridTemplateRows: `repeat(${column.boxes.length}, 1fr)` }}>
        {column.boxes.map((box, slot) => <li key={slot} class={box ? '' : 'nobody'}>{box && <Box box={box} below={below} />}</li>)}
      </ol>
    </div>
  );
}

function Box({ box, below }: { box: BracketBox; below: ((box: BracketBox) => ComponentChildren) | undefined }) {
  const { bots, meeting } = box;
  const winner = meeting && winnerOf(meeting);
  if (!bots.length) return <p class="bracket-box quiet">to come</p>;
  return (
    <div class={meeting ? 'bracket-box' : 'bracket-box bye'}>
      <ul class="meeting">
        {bots.map((bot, at) => <li key={bot} class={bot === winner ? 'winner' : ''}>{below ? <BotLink name={bot} /> : <bdi>{bot}</bdi>} <span class="number">{meeting ? points(meeting.scores[at] ?? 0) : 'bye'}</span></li>)}
      </ul>
      {meeting && below?.(box)}
    </div>
  );
}

/** The matches of a box: those that are over, and the one that is live. */
function Matches({ box: { bots, meeting }, contest, tables }: { box: BracketBox; contest: DocumentedContest; tables: readonly Table[] }) {
  const live = tables.find((table) => table.contest === contest.name && bots.every((bot) => table.players.includes(bot)));
  return <div class="bracket-matches">{live && <MatchLink id={live.id}>live</MatchLink>}{meeting && <Games meeting={meeting} over={contest.state === 'over'} />}</div>;
}
