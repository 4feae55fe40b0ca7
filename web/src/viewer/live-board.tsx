/** LiveBoard: a small live board of a running match, for lists. Off screen, it costs nothing. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { colourOf, signOf, type Renderer, type Seat } from '../renderers/renderer';
import { useRenderer } from '../renderers/use';
import { feed } from './feed';
import { after, type SmallPosition } from './small-position';
import { outcomeInWords } from './words';

export interface LiveBoardProps {
  match: string;
  game: string;
  players: readonly string[];
  /** Text under the names, such as the title of the game. */
  words?: string | undefined;
  /** Large and without a link, for a screen in a hall. */
  large?: boolean;
  /** Called when the match is over. */
  onOver?: (() => void) | undefined;
}

const MOST_NAMES = 4;
/** Milliseconds for which a move is animated. */
const STEP_TIME = 160;

export function LiveBoard({ match, game, players, words, large = false, onOver }: LiveBoardProps) {
  const box = useRef<HTMLDivElement>(null);
  const { position, over } = usePosition(match, players, useSeen(box));
  const renderer = useRenderer(game);
  useEffect(() => void (over && onOver?.()), [over]);
  const state = position?.result ? outcomeInWords(players, position.result) : over ? 'over' : null;
  return (
    <div class={`live-board${large ? ' large' : ''}${over ? ' over' : ''}`} ref={box}>
      {/* The board is drawn for the eye; the link says what it leads to. */}
      <div class="live-picture" aria-hidden="true" inert>
        {renderer && position ? <Picture {...{ renderer, position, players, large }} /> : <span class="quiet">{over ? 'This match is over.' : 'Waiting for the board …'}</span>}
      </div>
      <div class="live-names">
        {players.slice(0, MOST_NAMES).map((name, player) => (
          <span key={player} class="live-player"><i class="sign" style={{ '--seat': colourOf(player) }} aria-hidden="true">{signOf(player)}</i><bdi>{name}</bdi></span>
        ))}
        {players.length > MOST_NAMES && <span class="quiet">and {players.length - MOST_NAMES} more</span>}
      </div>
      {(words || state) && <div class="quiet live-words">{[words, state].filter(Boolean).join(' · ')}</div>}
      {!large && <a class="cover" href={`/matches/${encodeURIComponent(match)}`} aria-label={`Watch ${players.join(' against ')}${words ? `, ${words}` : ''}`} />}
    </div>
  );
}

interface PictureProps {
  renderer: Renderer;
  position: SmallPosition;
  players: readonly string[];
  large: boolean;
}

function Picture({ renderer, position, players, large }: PictureProps) {
  const { view, before, event, order, result } = position;
  const seats = useMemo<Seat[]>(() => order.map((player) => ({ player, name: players[player] ?? '' })), [players, order.join()]);
  return (
    <div style={{ '--step-time': before ? `${STEP_TIME}ms` : '0s' }}>
      <renderer.Board view={view} before={before} event={event} seats={seats} final={result ? view : null} small={!large} />
    </div>
  );
}

/** The newest position, once the board has been on screen; null: the match was over by then. */
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
  return { position, over };
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
