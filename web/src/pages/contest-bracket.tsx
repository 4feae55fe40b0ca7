/** The bracket of a knockout or a double elimination. */
import type { ContestMeeting, ContestMeetings, DocumentedContest } from '../api/types';
import { useRest } from '../api/use';
import { BotLink } from '../parts/links';
import { bracketSides, leadsTo, type BracketColumn, type BracketSide } from './bracket-layout';
import { documentOf, lookEvery, points, winnerOf } from './contest-words';

/** A larger bracket fits no screen; the list of rounds shows it. */
const MOST_ENTRANTS = 128;
const TITLES: Record<BracketSide['side'], string> = { winners: 'Winners’ bracket', losers: 'Losers’ bracket', final: 'Final' };

export function hasBracket(contest: DocumentedContest): boolean {
  const { format, players = 2 } = documentOf(contest);
  return ['knockout', 'double-elimination'].includes(format) && players === 2 && contest.rounds.length > 0 && contest.entrants.length <= MOST_ENTRANTS;
}

export function BracketSection({ contest }: { contest: DocumentedContest }) {
  const { value } = useRest<ContestMeetings>(`/contest-meetings/${encodeURIComponent(contest.name)}?limit=1000`, lookEvery(contest));
  const sides = value ? bracketSides(value.meetings) : [];
  if (!sides.length) return null;
  const double = documentOf(contest).format === 'double-elimination';
  return (
    <section aria-label="Bracket">
      <h2>Bracket</h2>
      {sides.map(({ side, columns }) => (
        <div key={side}>
          {double && <h3>{TITLES[side]}</h3>}
          <div class="bracket" role="group" aria-label={double ? TITLES[side] : 'Bracket'} tabIndex={0}>
            {columns.map((column, at) => <Column key={at} column={column} next={columns[at + 1]} />)}
          </div>
        </div>
      ))}
    </section>
  );
}

function Column({ column, next }: { column: BracketColumn; next: BracketColumn | undefined }) {
  return (
    <div class="bracket-column">
      <p class="quiet">{column.round === null ? 'Later' : `Round ${column.round}`}</p>
      <ol class={`bracket-round leads-${leadsTo(column, next)}`} style={{ gridTemplateRows: `repeat(${column.cards.length}, 1fr)` }}>
        {column.cards.map((meeting, slot) => <li key={slot} class={meeting || column.round === null ? '' : 'bye'}>{meeting ? <Card meeting={meeting} /> : column.round === null && <div class="bracket-card quiet">to come</div>}</li>)}
      </ol>
    </div>
  );
}

function Card({ meeting }: { meeting: ContestMeeting }) {
  const winner = winnerOf(meeting);
  return (
    <ul class="bracket-card meeting">
      {meeting.bots.map((bot, at) => <li key={bot} class={bot === winner ? 'winner' : ''}><BotLink name={bot} /> <span class="number">{points(meeting.scores[at] ?? 0)}</span></li>)}
    </ul>
  );
}
