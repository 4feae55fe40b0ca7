/** The rounds of a contest: meetings and their matches. The current round is open, earlier ones are folded. */
import { useEffect, useState } from 'preact/hooks';
import type { ContestMeeting, ContestMeetings, DocumentedContest, Fixture, Round } from '../api/types';
import { DataTable, type Column } from '../parts/data-table';
import { BotLink, MatchLink } from '../parts/links';
import { documentOf, faultWords, lookEvery, points, resultWords, roundTitle, winnerOf } from './contest-words';

const MOST_BYES = 30;

export function RoundsSection({ contest }: { contest: DocumentedContest }) {
  const [bot, setBot] = useState('');
  const known = contest.entrants.some(({ name }) => name === bot);
  if (!contest.rounds.length) return null;
  return (
    <section aria-label="Rounds">
      <h2>Rounds</h2>
      <p class="filters">
        <label>Only meetings of <input type="search" list="contest-bots" placeholder="all bots" value={bot} onInput={(event) => setBot(event.currentTarget.value)} /></label>
        <datalist id="contest-bots">{contest.entrants.slice(0, 1000).map(({ name }) => <option key={name} value={name} />)}</datalist>
      </p>
      {known ? <Meetings key={bot} contest={contest} bot={bot} /> : contest.rounds.slice().reverse().map((round, at) => <RoundPart key={round.number} contest={contest} round={round} current={at === 0} />)}
    </section>
  );
}

/** A round is asked for when it is opened. */
function RoundPart({ contest, round, current }: { contest: DocumentedContest; round: Round; current: boolean }) {
  const [open, setOpen] = useState(current);
  useEffect(() => setOpen(current), [current]);
  return (
    <details class="round" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{roundTitle(documentOf(contest), round, contest.rounds[0]!)} <span class="quiet">· {round.played.toLocaleString()} of {round.games.toLocaleString()} matches played</span></summary>
      {open && <Meetings contest={contest} round={round} />}
      {open && <Byes names={round.byes} />}
    </details>
  );
}

function Byes({ names }: { names: readonly string[] }) {
  if (!names.length) return null;
  const rest = names.length - MOST_BYES;
  return <p class="quiet">{names.length === 1 ? 'Bye' : 'Byes'}: {names.slice(0, MOST_BYES).map((name, at) => <span key={name}>{at > 0 && ', '}<BotLink name={name} /></span>)}{rest > 0 && ` and ${rest} more`}</p>;
}

function Meetings({ contest, round, bot }: { contest: DocumentedContest; round?: Round; bot?: string }) {
  const caption = round ? `Meetings of round ${round.number}` : `Meetings of ${bot}`;
  const groups = documentOf(contest).format === 'groups' && (!round || round.number === 1);
  const columns: (Column<ContestMeeting> | false)[] = [
    !round && { title: 'Round', number: true, cell: (meeting) => meeting.round },
    groups && { title: 'Group', number: true, cell: ({ group }) => group ?? '' },
    { title: 'Players', head: true, cell: (meeting) => <Players meeting={meeting} /> },
    { title: 'Matches', cell: (meeting) => <Games meeting={meeting} over={contest.state === 'over'} /> },
  ];
  const still = contest.state === 'over' || (round && round.played === round.games);
  return (
    <DataTable<ContestMeeting, ContestMeetings> key={String(still)} caption={caption} from={`/contest-meetings/${encodeURIComponent(contest.name)}`} filters={{ round: round?.number, bot }}
      rows={({ meetings }) => meetings} columns={columns.filter((column) => column !== false)} usual="" prefix={round ? `round${round.number}-` : 'bot-'} every={still ? 0 : lookEvery(contest)} empty="No meeting." />
  );
}

function Players({ meeting }: { meeting: ContestMeeting }) {
  const { bots, scores } = meeting;
  const winner = winnerOf(meeting);
  return (
    <ul class="meeting">
      {bots.map((bot, at) => <li key={bot} class={bot === winner ? 'winner' : ''}><BotLink name={bot} /> <span class="number">{points(scores[at] ?? 0)}</span></li>)}
    </ul>
  );
}

export function Games({ meeting: { bots, games }, over }: { meeting: ContestMeeting; over: boolean }) {
  return <ul class="meeting-games">{games.map((game, at) => <li key={game.key}><Game game={game} words={resultWords(game, bots, over)} number={at + 1} /></li>)}</ul>;
}

function Game({ game, words: text, number }: { game: Fixture; words: string; number: number }) {
  const words = <bdi>{text}</bdi>;
  const faults = faultWords(game);
  return (
    <>
      {game.result?.match ? <MatchLink id={game.result.match}><span class="hidden">Match {number}: </span>{words}</MatchLink> : <span class="quiet">{words}</span>}
      {faults && <span class="bad"> <bdi>{faults}</bdi></span>}
    </>
  );
}
