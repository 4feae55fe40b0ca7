/** A bot: its rating over time, results by opponent, recent matches, and faults. */
import { useEffect, useState } from 'preact/hooks';
import type { Bots, Habit, Habits, LeaderboardLine, OpponentLine, Opponents, Profile } from '../api/types';
import { queryOf } from '../api/rest';
import { useRest } from '../api/use';
import { DataTable, type Column } from '../parts/data-table';
import { FollowButton } from '../parts/follow';
import { BotLink, GameLink, MatchLink } from '../parts/links';
import { MatchList } from '../parts/match-list';
import { Moment } from '../parts/moment';
import { Problem } from '../parts/problem';
import { OptionSets } from '../parts/option-sets';
import { NotComparable, Rating } from '../parts/rating';
import { RatingChart } from '../parts/rating-chart';
import { TableSizes } from '../parts/table-sizes';
import { go, query, type Params } from '../router';
import { protocolWords } from './bots';
import { HostedSection } from './hosted';

const FAULTS: Record<string, string> = {
  'illegal moves': 'Illegal moves',
  timeout: 'Out of time',
  disconnect: 'Connection lost',
  crash: 'Crashed',
  resigned: 'Resigned, also after a failure',
  flood: 'Too many messages',
  unreadable: 'Unreadable messages',
  expelled: 'Removed by the host',
  aborted: 'Match aborted',
};

export default function BotPage({ params }: { params: Params }) {
  const name = params['name'] ?? '';
  const reading = useRest<Profile>(`/profiles/${encodeURIComponent(name)}${queryOf({ players: query.value.get('players'), options: query.value.get('options') })}`, 30_000);
  useEffect(() => void (document.title = `${name} · Botdrome`), [name]);
  const profile = reading.value;
  if (!profile) return reading.error ? <Missing words={reading.error} again={reading.again} /> : <p class="quiet" role="status">Loading …</p>;
  return (
    <>
      <Head profile={profile} />
      <div class="columns wide-left">
        <RatingSection profile={profile} />
        <div>
          {profile.bot && <HabitsSection name={name} />}
          <Faults causes={profile.causes} />
        </div>
      </div>
      {profile.bot && <HostedSection key={name} name={name} owner={profile.bot.owner} />}
      <section aria-label="Results by opponent">
        <h2>Results by opponent</h2>
        <OpponentTable name={name} />
        {profile.bot && <CompareForm one={name} two="" game={profile.bot.game} fixed compare={(one, two) => go(`/compare${queryOf({ bot: [one, two] })}`)} />}
      </section>
      <section aria-label="Matches">
        <h2>Matches</h2>
        <MatchList caption="Matches, the newest first" bot={name} games={profile.bot === null} limit={15} every={10_000} empty="No match yet." />
      </section>
    </>
  );
}

function Missing({ words, again }: { words: string; again: () => void }) {
  return <><Problem words={words} retry={again} /><p><a href="/bots">All registered bots</a> · <a href="/search">Search</a></p></>;
}

function Head({ profile: { name, bot, matches } }: { profile: Profile }) {
  return (
    <header>
      <h1><bdi>{name}</bdi></h1>
      {bot ? (
        <>
          <p class="quiet"><GameLink game={bot.game} /> · {bot.owner ? <>by <bdi>{bot.owner}</bdi> · </> : ''}registered <Moment at={bot.registered} />
            {bot.seen && <> · last match <Moment at={bot.seen} /></>}{protocolWords(bot) && ` · ${protocolWords(bot)}`}{bot.language && <> · written in <bdi>{bot.language}</bdi></>}</p>
          <p class="actions"><a class="button main" href={`/play/${bot.game}?opponent=${encodeURIComponent(name)}`}>Challenge it</a> <FollowButton kind="bot" game={bot.game} name={name} /></p>
        </>
      ) : (
        <p class="quiet">A guest: this name is not registered, so several people may have used it. {matches === 1 ? '1 match, which is not' : `${matches.toLocaleString()} matches, none of them`} rated.</p>
      )}
    </header>
  );
}

function RatingSection({ profile: { rating, versions, history, bot, players, sizes, options, optionSets } }: { profile: Profile }) {
  if (!bot) return null;
  if (!rating || rating.rating === null) return <section><h2>Rating</h2><p>There is no rating yet: it comes with the first match against another registered bot or a bot of the house.</p></section>;
  return (
    <section aria-label="Rating">
      <h2>Rating</h2>
      <p class="figures">
        <span class="figure"><Rating {...rating} /></span>
        {rating.version && <span>version <bdi>{rating.version}</bdi></span>}
        {rating.place !== null && <span>place {rating.place}</span>}
        <NotComparable {...rating} />
        <span>{rating.games.toLocaleString()} rated {rating.games === 1 ? 'match' : 'matches'}: {rating.wins} won, {rating.draws} drawn, {rating.losses} lost<TableSizes shown={players} sizes={sizes} name="players" /><OptionSets shown={options} sets={optionSets} /></span>
      </p>
      {history.length > 1 && <RatingChart points={history} />}
      {versions.length > 1 && <VersionTable versions={versions} />}
      {rating.low === null && rating.games > 1 && <p class="quiet">There is no interval: too many bots have met to compute one.</p>}
    </section>
  );
}

function VersionTable({ versions }: { versions: LeaderboardLine[] }) {
  return (
    <table>
      <caption>Ratings of its versions, the newest first</caption>
      <thead><tr><th scope="col">Version</th>{['Rating', 'Games', 'Won', 'Drawn', 'Lost'].map((title, at) => <th key={title} scope="col" class={at < 2 ? 'number' : 'number wide'}>{title}</th>)}</tr></thead>
      <tbody>
        {versions.map((line) => (
          <tr key={line.version}>
            <th scope="row">{line.version ? <bdi>{line.version}</bdi> : <span class="quiet">older or not named</span>}</th>
            <td class="number"><Rating {...line} /></td>
            {[line.games, line.wins, line.draws, line.losses].map((count, at) => <td key={at} class={at ? 'number wide' : 'number'}>{count.toLocaleString()}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Faults({ causes }: { causes: Record<string, number> }) {
  const faults = Object.entries(causes).filter(([cause]) => cause !== 'complete');
  return (
    <section aria-label="Faults">
      <h2>Faults</h2>
      {faults.length === 0 ? <p class="quiet">None: every match ended by the rules of the game.</p> : (
        <table>
          <caption>Matches that did not end by the rules, by cause</caption>
          <tbody>{faults.map(([cause, times]) => <tr key={cause}><th scope="row">{FAULTS[cause] ?? cause}</th><td class="number">{times.toLocaleString()}</td></tr>)}</tbody>
        </table>
      )}
      <p class="quiet">Owners: open a match and choose “Why?” to see each message with the server’s verdict, beside the board.</p>
    </section>
  );
}

const HABITS = {
  openings: ['Openings', 'its first moves'],
  deaths: ['How it ends', 'what became of it'],
} as const;

function HabitsSection({ name }: { name: string }) {
  const { value, error, again } = useRest<Habits>(`/habits/${encodeURIComponent(name)}`);
  if (value?.kind === 'none') return null;
  const [title, what] = value ? HABITS[value.kind] : ['Habits', ''];
  return (
    <section aria-label={title} class="habits">
      <h2>{title}</h2>
      {error && !value && <Problem words={error} retry={again} />}
      {value && (value.habits.length === 0 ? <p class="quiet">No match has ended yet.</p> : (
        <>
          <p class="quiet">In {value.matches === 1 ? 'its last match' : `its last ${value.matches} matches`}, {what}:</p>
          <ul class="lines">{value.habits.map((habit) => <li key={habit.words}><HabitLine habit={habit} of={value.matches} /></li>)}</ul>
        </>
      ))}
    </section>
  );
}

function HabitLine({ habit: { words, times, wins, draws, losses, match }, of }: { habit: Habit; of: number }) {
  return (
    <>
      <strong>{words.charAt(0).toUpperCase() + words.slice(1)}</strong>: {times === 1 ? 'once' : `${times} times`} <span class="quiet">({Math.round((100 * times) / of)} %)</span>
      , {wins} won, {draws} drawn, {losses} lost · <MatchLink id={match}>the last one</MatchLink>
    </>
  );
}

interface CompareProps {
  one: string;
  two: string;
  /** The game whose bots are offered; null: all bots are. */
  game?: string | null;
  /** The first bot cannot be changed. */
  fixed?: boolean;
  compare: (one: string, two: string) => void;
}

export function CompareForm({ one, two, game = null, fixed = false, compare }: CompareProps) {
  const [names, setNames] = useState([one, two]);
  useEffect(() => setNames([one, two]), [one, two]);
  const [focused, setFocused] = useState(false);
  const bots = useRest<Bots>(focused ? `/bots${queryOf({ game, limit: 100, sort: '-registered' })}` : null).value;
  const submit = (event: Event) => {
    event.preventDefault();
    compare(names[0]!.trim(), names[1]!.trim());
  };
  const set = (place: number, name: string) => setNames(names.map((old, at) => (at === place ? name : old)));
  return (
    <form class="filters" onSubmit={submit}>
      {names.map((name, place) => (fixed && place === 0 ? null : (
        <label key={place}>{fixed ? 'Compare with' : place ? 'Second bot' : 'First bot'}
          <input required maxLength={64} value={name} list="known-bots" autocomplete="off" onFocus={() => setFocused(true)} onInput={(event) => set(place, event.currentTarget.value)} />
        </label>
      )))}
      <button type="submit">Compare</button>
      <datalist id="known-bots">{bots?.bots.map((bot) => <option key={bot.name} value={bot.name} />)}</datalist>
    </form>
  );
}

const COLUMNS: Column<OpponentLine>[] = [
  { title: 'Opponent', head: true, sort: 'name', cell: (line) => <BotLink name={line.name} /> },
  { title: 'Games', number: true, sort: 'games', falling: true, cell: (line) => line.games.toLocaleString() },
  { title: 'Won', number: true, sort: 'wins', falling: true, cell: (line) => line.wins.toLocaleString() },
  { title: 'Drawn', number: true, wide: true, cell: (line) => line.draws.toLocaleString() },
  { title: 'Lost', number: true, wide: true, sort: 'losses', falling: true, cell: (line) => line.losses.toLocaleString() },
  { title: 'Score', number: true, cell: (line) => `${Math.round((100 * (line.wins + line.draws / 2)) / line.games)} %` },
  { title: 'Last match', wide: true, sort: 'last', falling: true, cell: (line) => <Moment at={line.last} /> },
];

function OpponentTable({ name }: { name: string }) {
  return (
    <DataTable<OpponentLine, Opponents> caption="Matches that have ended, opponent by opponent" from={`/opponents/${encodeURIComponent(name)}`} rows={(answer) => answer.opponents}
      columns={COLUMNS} usual="-games" limit={15} prefix="opponents-" empty="No match has ended yet." />
  );
}
