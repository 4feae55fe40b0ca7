/** One board of duel arena, to click through. */
import { useEffect, useMemo } from 'preact/hooks';
import type { NumberedBoard } from '../api/types';
import { useRest } from '../api/use';
import { matchPath } from '../parts/links';
import { Moment } from '../parts/moment';
import { Problem } from '../parts/problem';
import { boardOf } from '../replay/boards';
import type { Params } from '../router';
import { linksOf } from '../viewer/links';
import { MatchViewer } from '../viewer/viewer';
import { DuellistLink } from './duel';
import { useSource } from './match';

export default function BoardPage({ params }: { params: Params }) {
  const id = params['id'] ?? '';
  const reading = useRest<NumberedBoard>(`/duel/boards/${encodeURIComponent(id)}`);
  useEffect(() => void (document.title = `Board ${id} · Duel arena`), [id]);
  if (!reading.value) return reading.error ? <><Problem words={reading.error} retry={reading.again} /><p><a href="/history">All boards</a></p></> : <p class="quiet" role="status">Loading …</p>;
  return <Board found={reading.value} />;
}

function Board({ found: { board, number } }: { found: NumberedBoard }) {
  const { id, crosses, circles, ratings, winner } = board;
  const wins = winner === null ? 'a draw' : <><bdi>{winner}</bdi> wins with {winner === crosses ? 'crosses' : 'noughts'}</>;
  return (
    <>
      <header>
        <h1>Board {id}</h1>
        <p>
          <DuellistLink name={crosses} /> <span class="quiet">{Math.round(ratings[0] ?? 0)}, crosses</span> – <DuellistLink name={circles} /> <span class="quiet">{Math.round(ratings[1] ?? 0)}, noughts</span>
          {' '}· {wins} · {board.moves} moves · <Moment at={board.started} />
        </p>
        <p class="quiet"><a href={`/board/${id - 1}`} rel="prev">Previous board</a> · <a href={`/board/${id + 1}`} rel="next">Next board</a> · <a href={matchPath(board.match)}>The whole match</a> · <a href="/history">All boards</a></p>
      </header>
      <Shown key={board.match} match={board.match} number={number} />
    </>
  );
}

function Shown({ match, number }: { match: string; number: number }) {
  const loading = useSource(match).loading.value;
  const film = loading.state === 'shown' ? loading.film : null;
  const board = useMemo(() => film && boardOf(film, number), [film, number]);
  if (loading.state === 'failed') return <Problem words={loading.words} />;
  if (loading.state === 'loading') return <p class="quiet" role="status">Loading the board …</p>;
  if (!board) return <p class="quiet" role="status">The board can be shown when its match is over.</p>;
  const links = linksOf(match, location.origin, loading.film.over);
  const { page, embed, fork } = links;
  const shifted = { ...links, page: (step: number) => page(step + board.steps), embed: (step: number) => embed(step + board.steps), fork: fork && ((step: number) => fork(step + board.steps)) };
  return <MatchViewer key={number} film={board} step={0} links={shifted} />;
}
