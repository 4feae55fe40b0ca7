/** The renderer of battleship: the boards of all players, as large as there is room for. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ShotArrow } from './battleship_arrow';
import { Placing } from './battleship_placing';
import { Sea } from './battleship_sea';
import { describe, fleetSize, hitsOn, lastShot, marks, moveInWords, playerName, silent, type BattleshipView, type Shot } from './battleship_words';
import { colourOf, signOf, type BoardProps, type Renderer, type Seat } from './renderer';

type Props = BoardProps<BattleshipView>;

interface Room {
  width: number;
  height: number;
}

/** A finger or a mouse hits squares of this size in pixels. */
const EASY = 29;
/** Boards that are narrower, in pixels, have no coordinates. */
const NARROW = 215;

/** How many boards go side by side, so that squares are as large as possible within a width and a height. */
export function columnsFor(boards: number, sea: Room, room: Room): number {
  const square = (columns: number) =>
    Math.min(room.width / (columns * (sea.width + 1.2)), room.height / (Math.ceil(boards / columns) * (sea.height + 3)));
  const counts = Array.from({ length: boards }, (_, index) => index + 1);
  return counts.reduce((best, columns) => (square(columns) > square(best) ? columns : best), 1);
}

/** The pixels that there are for the boards; `probe` is an element as high as a board may be. */
function useRoom(outer: RefObject<HTMLElement | null>, probe: RefObject<HTMLElement | null>): Room {
  const [room, setRoom] = useState<Room>({ width: 700, height: 700 });
  useLayoutEffect(() => {
    const [across, along] = [outer.current, probe.current];
    if (!across || !along) return undefined;
    const measure = () => setRoom({ width: across.clientWidth, height: along.clientHeight });
    const observer = new ResizeObserver(measure);
    measure();
    observer.observe(across);
    observer.observe(along);
    return () => observer.disconnect();
  }, []);
  return room;
}

function columnsOf(view: BattleshipView, room: Room, small: boolean): number {
  const boards = view.boards.length;
  if (small) return columnsFor(boards, view, { width: 1, height: 1 });
  // For a player, scrolling is better than missing a square.
  if (view.you !== null) return Math.max(1, Math.min(boards, 3, Math.floor(room.width / (EASY * (view.width + 1)))));
  return columnsFor(boards, view, room);
}

/** The width of the boards together: no wider than they may be high, or than is easy to see. */
function widthOf(view: BattleshipView, columns: number): string {
  if (view.you !== null) return `${columns * 26}rem`;
  const ratio = (columns * (view.width + 1.2)) / (Math.ceil(view.boards.length / columns) * (view.height + 3));
  return `max(calc(var(--board-height, 82vh) * ${ratio.toFixed(3)}), 18rem)`;
}

/** The letters of the fleets by seat, as far as the user may know them. */
function fleetsShown({ view, final }: Props, revealed: boolean): (readonly string[] | null)[] {
  const all = view.fleets ?? (revealed ? final?.fleets : null);
  return view.boards.map((_, seat) => all?.[seat] ?? (seat === view.you ? view.own : null));
}

interface PanelProps {
  props: Props;
  seat: number;
  fleet: readonly string[] | null;
  /** Too narrow for coordinates and most words. */
  narrow: boolean;
  legal(target: number, x: number, y: number): boolean;
}

function Panel({ props, seat, fleet, narrow, legal }: PanelProps) {
  const { view, before, seats, small, move } = props;
  const shot = lastShot(view);
  const target = view.you !== null && seat !== view.you && !small;
  const name = playerName(seats, seat);
  const toMove = view.phase === 'shooting' && view.toMove.includes(seat);
  const aimed = target && move !== undefined && view.toMove.includes(view.you!);
  return (
    <div class={`sea ${toMove ? 'to-move' : ''} ${aimed ? 'aimed' : ''}`} data-seat={seat} style={{ '--owner': colour(seats, seat) }}>
      <Heading view={view} seats={seats} seat={seat} small={small} narrow={narrow} />
      <Sea
        width={view.width} height={view.height} board={view.boards[seat]!} before={before?.boards[seat] ?? null} fleet={fleet} small={narrow}
        label={`Board of ${name}`}
        last={shot?.target === seat ? { x: shot.x, y: shot.y, colour: colour(seats, shot.shooter) } : null}
        aim={target ? { open: (x, y) => legal(seat, x, y), shoot: (x, y) => move?.({ target: seat, x, y }) } : undefined}
      />
    </div>
  );
}

function colour(seats: readonly Seat[], seat: number): string {
  return colourOf(seats[seat]?.player ?? seat);
}

function Heading({ view, seats, seat, small, narrow }: {
  view: BattleshipView; seats: readonly Seat[]; seat: number; small: boolean; narrow: boolean;
}) {
  const [hits, size, score] = [hitsOn(view, seat), fleetSize(view), view.scores[seat]];
  const skipped = view.last?.shooter === seat && 'skip' in view.last;
  const fleet = hits === size ? 'fleet sunk' : `fleet ${size - hits}/${size}`;
  return (
    <div class="sea-heading">
      <span class="sea-sign" aria-hidden="true">{signOf(seats[seat]?.player ?? seat)}</span>
      {!small && <span class="sea-name" title={playerName(seats, seat)}>{playerName(seats, seat)}{seat === view.you && ' (you)'}</span>}
      {!narrow && skipped && <span class="sea-skipped">skipped</span>}
      <span class="sea-score"><b>{score}</b>{!narrow && (score === 1 ? ' hit' : ' hits')}</span>
      {!narrow && <span class="sea-fleet">{view.phase === 'placement' ? 'places its fleet' : fleet}</span>}
      <span class="sea-bar" aria-hidden="true"><span style={{ width: `${(100 * (size - hits)) / size}%` }} /></span>
    </div>
  );
}

function Choices({ props, revealed, reveal }: { props: Props; revealed: boolean; reveal(chosen: boolean): void }) {
  const { view, final, move } = props;
  const turn = move !== undefined && view.phase === 'shooting' && view.you !== null && view.toMove.includes(view.you);
  if (view.you === null && !final?.fleets) return null;
  return (
    <div class="board-choice sea-choices">
      {turn && <button type="button" onClick={() => move({ skip: true })}>Skip this turn</button>}
      {final?.fleets && (
        <label>
          <input
            type="checkbox" checked={revealed || view.fleets !== null} disabled={view.fleets !== null}
            onChange={(event) => reveal(event.currentTarget.checked)}
          /> Show the fleets
        </label>
      )}
    </div>
  );
}

/** The legal shots: those that are listed, or all squares without a shot. */
function shots({ view, move, legal }: Props): (target: number, x: number, y: number) => boolean {
  if (!move || view.you === null || !view.toMove.includes(view.you)) return () => false;
  const listed = legal && new Set((legal as Partial<Shot>[]).map(({ target, x, y }) => `${target},${x},${y}`));
  return (target, x, y) => view.boards[target]?.[y]?.[x] === '.' && (listed?.has(`${target},${x},${y}`) ?? true);
}

function Seas(props: Props) {
  const { view, seats, small } = props;
  const [outer, around, probe] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)];
  const room = useRoom(outer, probe);
  const [revealed, reveal] = useState(false);
  const fleets = fleetsShown(props, revealed);
  const columns = columnsOf(view, room, small);
  const narrow = small || room.width / columns < NARROW;
  const legal = shots(props);
  // The boards that a person shoots at come before its own.
  const order = view.boards.map((_, seat) => seat).sort((one, other) => Number(one === view.you) - Number(other === view.you));
  const shot = lastShot(view);
  return (
    <div class={small ? 'battleship small' : 'battleship'} ref={outer}>
      {!small && <div class="sea-probe" ref={probe} />}
      <div class="seas" ref={around} style={{ '--columns': columns, '--rows': Math.ceil(view.boards.length / columns), '--ratio': view.width / view.height, '--width': widthOf(view, columns), '--mine': colour(seats, view.you ?? 0) }}>
        {order.map((seat) => <Panel key={seat} props={props} seat={seat} fleet={fleets[seat]!} narrow={narrow} legal={legal} />)}
        {!small && shot && <ShotArrow around={around} view={view} layout={`${room.width} ${room.height} ${columns}`} narrow={narrow} colour={colour(seats, shot.shooter)} />}
      </div>
      {!small && <Choices props={props} revealed={revealed} reveal={reveal} />}
    </div>
  );
}

function BattleshipBoard(props: Props) {
  const { view, small, move } = props;
  // A fleet in the making stays while the connection is lost, when no move can be made.
  const played = useRef(false);
  played.current ||= move !== undefined;
  return view.phase === 'placement' && view.you !== null && played.current && !small
    ? <Placing view={view} place={move && ((board) => move({ board }))} />
    : <Seas {...props} />;
}

export const battleship: Renderer<BattleshipView> = {
  Board: BattleshipBoard,
  describe,
  scores: (view) => view.scores,
  marks,
  moveInWords,
  silent,
  help: 'First place your fleet: drag the boats, and turn one by clicking it. Then click a square of an opponent to shoot at it; on a small screen, tap it twice. By keyboard: walk with the arrow keys, shoot with Enter or Space; a boat is moved by the arrow keys and turned by R.',
};
