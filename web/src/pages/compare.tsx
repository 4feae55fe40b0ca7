/** Two bots side by side: ratings, their matches against each other, and common opponents. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { queryOf } from '../api/rest';
import type { BotFace, CommonOpponent, Comparison, OpponentLine, Profile } from '../api/types';
import { useRest } from '../api/use';
import { RowsTable, type Column } from '../parts/data-table';
import { BotLink, GameLink } from '../parts/links';
import { MatchList } from '../parts/match-list';
import { Moment } from '../parts/moment';
import { Problem } from '../parts/problem';
import { Rating } from '../parts/rating';
import { RatingChart } from '../parts/rating-chart';
import { go, query } from '../router';
import { CompareForm } from './bot';
import { protocolWords, recordWords } from './bots';

export default function ComparePage() {
  const [one = '', two = ''] = query.value.getAll('bot');
  useEffect(() => void (document.title = `${one && two ? `${one} and ${two}` : 'Compare two bots'} · Botdrome`), [one, two]);
  return (
    <>
      <h1>Compare two bots</h1>
      <CompareForm one={one} two={two} compare={(first, second) => go(`/compare${queryOf({ bot: [first, second] })}`)} />
      {one && two && <Compared key={JSON.stringify([one, two])} one={one} two={two} />}
    </>
  );
}

function Compared({ one, two }: { one: string; two: string }) {
  const reading = useRest<Comparison>(`/comparison${queryOf({ bot: [one, two] })}`);
  const found = reading.value;
  if (!found) return reading.error ? <Problem words={reading.error} retry={reading.again} /> : <p class="quiet table-wait" role="status">Loading …</p>;
  const [first, second] = found.bots as [BotFace, BotFace];
  return (
    <>
      <Meeting first={first} second={second} comparison={found} />
      <Facts first={first} second={second} />
      <div class="columns">{found.bots.map((bot) => <History key={bot.name} name={bot.name} />)}</div>
      <section aria-label="Common opponents">
        <h2>Common opponents</h2>
        <RowsTable<CommonOpponent> caption="Matches won, drawn and lost against opponents that both have met" rows={found.common} columns={common(one, two)} limit={15} empty="They have no opponent in common." />
      </section>
      <section aria-label="Matches">
        <h2>Their matches</h2>
        <MatchList caption="Matches against each other, the newest first" filters={{ bot: [one, two] }} games={false} limit={10} empty="They have not met." />
      </section>
    </>
  );
}

function Meeting({ first, second, comparison: { met, expected } }: { first: BotFace; second: BotFace; comparison: Comparison }) {
  return (
    <p class="compared">
      {met ? <><bdi>{first.name}</bdi> has won {met.wins.toLocaleString()}, drawn {met.draws.toLocaleString()} and lost {met.losses.toLocaleString()} of {met.games.toLocaleString()} {met.games === 1 ? 'match' : 'matches'} against <bdi>{second.name}</bdi>, the last one <Moment at={met.last} />.</> : 'They have not met.'}
      {expected !== null && <> By their ratings, <bdi>{first.name}</bdi> may expect {Math.round(100 * expected)} % of the points.</>}
      {first.game !== second.game && ' They play different games, so their ratings cannot be compared.'}
    </p>
  );
}

function Facts({ first, second }: { first: BotFace; second: BotFace }) {
  const rows: [string, (bot: BotFace) => ComponentChildren][] = [
    ['Game', (bot) => <GameLink game={bot.game} />],
    ['Rating', (bot) => <Rating {...bot} />],
    ['Record', recordWords],
    ['Last seen', ({ seen }) => (seen ? <Moment at={seen} /> : '–')],
    ['Protocol', (bot) => protocolWords(bot) ?? '–'],
    ['Language', ({ language }) => language ?? '–'],
    ['Owner', ({ owner }) => <bdi>{owner || '–'}</bdi>],
  ];
  return (
    <table class="compare-facts">
      <caption>The two bots</caption>
      <thead><tr><th scope="col"><span class="hidden">Property</span></th>{[first, second].map(({ name }) => <th key={name} scope="col"><BotLink name={name} /></th>)}</tr></thead>
      <tbody>{rows.map(([title, cell]) => <tr key={title}><th scope="row">{title}</th><td>{cell(first)}</td><td>{cell(second)}</td></tr>)}</tbody>
    </table>
  );
}

function History({ name }: { name: string }) {
  const { value } = useRest<Profile>(`/profiles/${encodeURIComponent(name)}`);
  return (
    <section aria-label={`Rating of ${name}`} class="compare-history">
      <h2><bdi>{name}</bdi></h2>
      {value && value.history.length > 1 ? <RatingChart points={value.history} /> : value && <p class="quiet">Too few rated matches for a curve.</p>}
    </section>
  );
}

function common(one: string, two: string): Column<CommonOpponent>[] {
  const results = ({ wins, draws, losses, games }: OpponentLine) => <>{wins}–{draws}–{losses} <span class="quiet">{Math.round((100 * (wins + draws / 2)) / games)} %</span></>;
  return [
    { title: 'Opponent', head: true, cell: ({ name }) => <BotLink name={name} /> },
    { title: one, number: true, cell: ({ first }) => results(first) },
    { title: two, number: true, cell: ({ second }) => results(second) },
  ];
}
