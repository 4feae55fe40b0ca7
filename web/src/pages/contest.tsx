/** A contest: with a document, all about it; without one, its progress, live standings, and the crosstable. */
import { useEffect, useState } from 'preact/hooks';
import { ask, RestError } from '../api/rest';
import type { Contest, ContestBracket, DocumentedContest, Rank, Standings } from '../api/types';
import { useRest } from '../api/use';
import { DataTable, type Column } from '../parts/data-table';
import { FollowButton } from '../parts/follow';
import { BotLink, GameLink } from '../parts/links';
import { MatchList } from '../parts/match-list';
import { Problem } from '../parts/problem';
import type { Params } from '../router';
import { bracketPath, hasBracket } from './contest-bracket';
import { DocumentedContestPage } from './contest-document';
import { CrosstableSection, NowPlaying, ResultFiles } from './contest-tables';

const EVERY = 4000;

type Kind = 'asking' | 'plain' | Documented | { failed: string };

/** The bracket is loaded with the contest, so that nothing moves when it comes. */
interface Documented {
  contest: DocumentedContest;
  bracket: ContestBracket | null;
}

export default function ContestPage({ params }: { params: Params }) {
  const [game, name] = [params['game'] ?? '', params['name'] ?? ''];
  const [kind, setKind] = useState<Kind>('asking');
  const look = () => {
    setKind('asking');
    const failed = (error: Error) => setKind(error instanceof RestError && error.status === 404 ? 'plain' : { failed: error.message });
    load(name).then((found) => setKind(found.contest.game === game ? found : 'plain'), failed);
  };
  useEffect(look, [game, name]);
  useEffect(() => void (document.title = `${name} · Botdrome`), [name]);
  if (kind === 'asking') return <p class="quiet" role="status">Loading …</p>;
  if (kind === 'plain') return <PlainContest game={game} name={name} />;
  if ('failed' in kind) return <Problem words={kind.failed} retry={look} />;
  return <DocumentedContestPage first={kind.contest} bracket={kind.bracket} />;
}

async function load(name: string): Promise<Documented> {
  const contest = await ask<DocumentedContest>(`/contest-documents/${encodeURIComponent(name)}?fixtures=none`);
  return { contest, bracket: hasBracket(contest) ? await ask<ContestBracket>(bracketPath(contest)).catch(() => null) : null };
}

function PlainContest({ game, name }: { game: string; name: string }) {
  const at = `${encodeURIComponent(game)}/${encodeURIComponent(name)}`;
  const reading = useRest<Contest>(`/contests/${at}`, EVERY);
  const contest = reading.value;
  if (!contest) return reading.error ? <><Problem words={reading.error} retry={reading.again} /><p><a href="/contests">All contests</a></p></> : <p class="quiet" role="status">Loading …</p>;
  return (
    <>
      <header>
        <h1><bdi>{contest.name}</bdi></h1>
        <p class="quiet"><GameLink game={contest.game} /> {contest.rankings.length > 0 && ` · ${contest.rankings.length} bots`} <FollowButton kind="contest" game={contest.game} name={contest.name} /></p>
        <Progress contest={contest} />
      </header>
      {contest.running > 0 && <NowPlaying game={contest.game} contest={contest.name} />}
      <section aria-label="Standings"><h2>Standings</h2><StandingsTable at={at} every={EVERY} /></section>
      <CrosstableSection at={at} played={contest.matches} />
      <ResultFiles at={at} name={contest.name} />
      <section aria-label="Matches">
        <h2>Matches</h2>
        <MatchList caption="Matches of the contest" filters={{ game: contest.game, contest: contest.name }} games={false} limit={15} prefix="matches-" every={10_000} empty="No match yet." />
      </section>
    </>
  );
}

function Progress({ contest: { matches, running, planned } }: { contest: Contest }) {
  return (
    <div class="progress">
      <progress max={Math.max(planned, matches, 1)} value={matches} aria-label="Matches played" />
      <p>{matches.toLocaleString()} of {planned.toLocaleString()} matches played{running > 0 && `, ${running} running`}. <span class="quiet">More are planned when another bot comes.</span></p>
    </div>
  );
}

const COLUMNS: Column<Rank>[] = [
  { title: 'Place', number: true, sort: 'place', cell: ({ place }) => place },
  { title: 'Bot', head: true, sort: 'bot', cell: ({ bot }) => <BotLink name={bot} /> },
  { title: 'Points', number: true, sort: 'score', falling: true, cell: ({ score }) => <strong>{score}</strong> },
  { title: 'Played', number: true, sort: 'played', falling: true, cell: ({ played }) => played },
  { title: 'Won', number: true, wide: true, sort: 'wins', falling: true, cell: ({ wins }) => wins },
  { title: 'Drawn', number: true, wide: true, sort: 'draws', falling: true, cell: ({ draws }) => draws },
  { title: 'Lost', number: true, wide: true, sort: 'losses', falling: true, cell: ({ losses }) => losses },
];

export function StandingsTable({ at, every, limit = 25 }: { at: string; every: number; limit?: number }) {
  return (
    <DataTable<Rank, Standings> caption="3 points for a win, 1 for a draw" from={`/standings/${at}`} rows={(answer) => answer.bots} columns={COLUMNS}
      usual="place" limit={limit} prefix="standings-" every={every} empty="No match has ended yet." />
  );
}
