/** LiveBoard: a small live board of a running match, for lists. Off screen, it costs nothing. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { askText } from '../api/rest';
import { colourOf, signOf, type Cross, type Renderer, type Seat } from '../renderers/renderer';
import { useRenderer } from '../renderers/use';
import { readFilm } from '../replay/stored';
import { byPlayer } from './digest';
import { feed } from './feed';
import { after, endOf, type SmallPosition } from './small-position';
import { number, outcomeInWords } from './words';

export interface LiveBoardProps {
  match: string;
  game: string;
  players: readonly string[];
  /** Text under the names, such as the title of the game. */
  words?: string | undefined;
  /** More about each player, after its name. */
  facts?: ((name: string) => ComponentChildren) | undefined;
}

const MOST_NAMES = 4;
/** Milliseconds for which a move is animated. */
const STEP_TIME = 160;
/** Attempts to load the end of a match, which may not be stored yet. */
const ATTEMPTS = 4;
const BETWEEN = 1000;

export function LiveBoard({ match, game, players, words, facts }: LiveBoardProps) {
  const box = useRef<HTMLDivElement>(null);
  const { position, over } = usePosition(match, players, useSeen(box));
  const renderer = useRenderer(game);
  const state = position?.result ? outcomeInWords(players, position.result) : over ? 'over' : null;
  const scores = position?.result?.scores ?? (renderer && position && scoresOf(renderer, position));
  return (
    <div class={`live-board${over ? ' over' : ''}`} ref={box}>
      {/* The board is drawn for the eye; the link says what it leads to. */}
      <div class="live-picture" aria-hidden="true" inert>
        {renderer && position ? <Picture {...{ renderer, position, players }} /> : <span class="quiet">{over ? 'This match is over.' : 'Waiting for the board …'}</span>}
      </div>
      <div class="live-about">
        <div class="live-names">
          {players.slice(0, MOST_NAMES).map((name, player) => (
            <span key={player} class="live-player">
              <i class="sign" style={{ '--seat': colourOf(player) }} aria-hidden="true">{signOf(player)}</i><bdi>{name}</bdi>{facts?.(name)}
              {scores && <b class="live-score">{number(scores[player] ?? 0)}</b>}
            </span>
          ))}
          {players.length > MOST_NAMES && <span class="quiet">and {players.length - MOST_NAMES} more</span>}
        </div>
        {(words || state) && <div class="quiet live-words">{words}{words && state && ' · '}{state && <strong>{state}</strong>}</div>}
      </div>
      <a class="cover" href={`/matches/${encodeURIComponent(match)}`} aria-label={`Watch ${players.join(' against ')}${words ? `, ${words}` : ''}`} />
    </div>
  );
}

/** Player by player; null: the game has none before its end. */
function scoresOf(renderer: Renderer, { view, order }: SmallPosition): readonly (number | null)[] | null {
  const scores = renderer.scores?.(view);
  return scores ? byPlayer(scores, order) : null;
}

interface PictureProps {
  renderer: Renderer;
  position: SmallPosition;
  players: readonly string[];
}

function Picture({ renderer, position, players }: PictureProps) {
  const { view, before, event, order, result } = position;
  const seats = useMemo<Seat[]>(() => order.map((player) => ({ player, name: players[player] ?? '' })), [players, order.join()]);
  const crosses = useCrosses(renderer, position);
  return (
    <div style={{ '--step-time': before ? `${STEP_TIME}ms` : '0s' }}>
      <renderer.Board view={view} before={before} event={event} seats={seats} final={result ? view : null} crosses={crosses} small />
    </div>
  );
}

/** Where seats died on this board, as far as it was seen. */
function useCrosses(renderer: Renderer, { view, event }: SmallPosition): readonly Cross[] {
  const seen = useRef<{ view: typeof view; crosses: readonly Cross[] }>({ view, crosses: [] });
  if (seen.current.view !== view) {
    const fallen = event?.event === 'began' ? null : (renderer.fallen?.(view, seen.current.view) ?? []);
    seen.current = { view, crosses: fallen ? [...seen.current.crosses, ...fallen] : [] };
  }
  return seen.current.crosses;
}

/** The newest position, once the board has been on screen; of a match that was over by then, its end. */
function usePosition(match: string, players: readonly string[], seen: boolean): { position: SmallPosition | null; over: boolean } {
  const [position, setPosition] = useState<SmallPosition | null>(null);
  const [over, setOver] = useState(false);
  useEffect(() => {
    setPosition(null);
    setOver(false);
  }, [match]);
  useEffect(() => {
    if (!seen || over) return;
    return feed.watch(match, (messages) => {
      setPosition((before) => messages.reduce((now, message) => after(now, message, players), before));
      if (messages.some((message) => 'end' in message)) setOver(true);
    });
  }, [match, seen, over]);
  const ended = over && !position?.result;
  useEffect(() => {
    if (!ended) return;
    const control = new AbortController();
    void loadEnd(match, control.signal).then((end) => end && setPosition(end));
    return () => control.abort();
  }, [match, ended]);
  return { position, over };
}

/** null: it is not stored, or is wanted no more. */
async function loadEnd(match: string, signal: AbortSignal): Promise<SmallPosition | null> {
  for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
    if (attempt) await new Promise((resolve) => setTimeout(resolve, BETWEEN));
    const text = await askText(`/matches/${encodeURIComponent(match)}/film`, { signal }).catch(() => null);
    if (text !== null) return signal.aborted ? null : endOf(readFilm(text));
  }
  return null;
}

function useSeen(box: { current: Element | null }): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => setSeen(entries.at(-1)?.isIntersecting ?? false), { rootMargin: '100px' });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return seen;
}
