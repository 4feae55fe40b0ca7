/** Bumblebots: a meadow of hexes with bees, flowers and the zones of both sides. */
import { useMemo, useRef } from 'preact/hooks';
import {
  type BumblebotsView, type Claim, type Hex, type Point, FLOWER, WALL, centreOf, claimsIn, describe, dronesOf, frameOf, hexAt,
  hexesWhere, marks, moveInWords, outlineOf, same, valueAt,
} from './bumblebots_view';
import { Arrows, OrderPad, Reach, useOrders } from './bumblebots_play';
import { SeatSign } from './controls';
import { type BoardProps, type Renderer, type Seat, colourOf, nameOf, signOf } from './renderer';

type Props = BoardProps<BumblebotsView>;

function BumblebotsBoard(props: Props) {
  const { view, before, seats, small } = props;
  const orders = useOrders(props);
  const claims = useMemo(() => (before ? claimsIn(view, before) : []), [view, before]);
  const [left, top, width, height] = frameOf(view.board.length);
  return (
    <div class={`bees${small ? ' small' : ''}${before ? '' : ' still'}`}>
      {!small && <ScoreLine view={view} seats={seats} />}
      <svg
        class={orders ? 'playing' : undefined} viewBox={`${left - 1} ${top - 1} ${width + 2} ${height + 2}`} role="img"
        aria-label={`The meadow at tick ${view.turnNumber} of ${view.ticks}`}
        onClick={orders ? (event) => orders.touch(hexAt(pointOf(event))) : undefined}
      >
        <Ground view={view} seats={seats} />
        {before && <Changes view={view} before={before} claims={claims} seats={seats} />}
        {orders && <Reach view={view} orders={orders} />}
        <Flowers view={view} before={before} />
        <Drones {...props} claims={claims} />
        {orders && <Arrows view={view} orders={orders} />}
      </svg>
      {orders && <OrderPad view={view} orders={orders} />}
    </div>
  );
}

/** Where a click is, in the units of the picture. */
function pointOf(event: MouseEvent & { currentTarget: SVGSVGElement }): Point {
  const matrix = event.currentTarget.getScreenCTM();
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix?.inverse());
}

function ScoreLine({ view, seats }: { view: BumblebotsView; seats: readonly Seat[] }) {
  return (
    <div class="bees-scores">
      {view.score.map((score, seat) => (
        <span key={seat} class="bees-side">
          <SeatSign player={playerAt(seats, seat)} />
          <span class="bees-name">{nameOf(seats, seat)}{view.you === seat && ' (you)'}</span>
          <strong>{score}</strong>
        </span>
      ))}
      <span class="bees-tick">tick {view.turnNumber} of {view.ticks}</span>
    </div>
  );
}

function playerAt(seats: readonly Seat[], seat: number): number {
  return seats[seat]?.player ?? seat;
}

/** The parts that seldom change, in few elements, redrawn only when the board changes. */
function Ground({ view, seats }: { view: BumblebotsView; seats: readonly Seat[] }) {
  const players = view.territory.map((_, seat) => playerAt(seats, seat));
  return useMemo(() => {
    const open = hexesWhere(view.board, (value) => value !== WALL);
    const walls = hexesWhere(view.board, (value) => value === WALL);
    return (
      <g>
        <path class="bees-floor" d={outlineOf(open, 9.5)} />
        <path class="bees-floor other" d={outlineOf(open.filter(([row, column]) => (row + column) % 3 === 0), 9.5)} />
        {players.map((player, seat) => {
          const zone = hexesWhere(view.board, (value) => value === view.territory[seat]);
          return (
            <g key={seat} style={{ color: colourOf(player) }}>
              <path class="bees-zone" d={outlineOf(zone, 9.5)} />
              <path class="bees-weave" d={zone.map((hex) => weave(hex, seat)).join('')} />
              <path class="bees-spawn" d={outlineOf(view.spawnPoints[seat] ?? [], 7.2)} />
            </g>
          );
        })}
        <path class="bees-wall-side" d={outlineOf(walls, 9.5)} />
        <path class="bees-wall" d={outlineOf(walls, 8.6, -0.9)} />
      </g>
    );
  }, [view.board.map((row) => row.join('')).join('/'), players.join()]);
}

/** The pattern of a zone: bars for the first seat, crosses for the other, so that it does not depend on colour. */
function weave(hex: Hex, seat: number): string {
  const { x, y } = centreOf(hex);
  return [[-4.3, -2.5], [4.3, -2.5], [0, 5]].map(([right, down]) => {
    const at = `M${(x + right!).toFixed(2)} ${(y + down!).toFixed(2)}`;
    return seat === 0 ? `${at}m-1.5 0h3` : `${at}m-1 -1l2 2m-2 0l2 -2`;
  }).join('');
}

interface ChangesProps { view: BumblebotsView; before: BumblebotsView; claims: readonly Claim[]; seats: readonly Seat[] }

/** The old state fades out over the new one. */
function Changes({ view, before, claims, seats }: ChangesProps) {
  if (claims.length === 0) return null;
  const changed = hexesWhere(view.board, () => true).filter((hex) => valueAt(view, hex) !== valueAt(before, hex));
  const spots = changed.filter((hex) => valueAt(view, hex) !== FLOWER);
  return (
    <g key={view.turnNumber}>
      <path class="bees-floor fading" d={outlineOf(spots, 9.6)} />
      {claims.map(({ hex, drone, seat }) => (
        <g key={drone} style={{ transform: shift(centreOf(hex)), color: colourOf(playerAt(seats, seat)) }}>
          <g class="fading"><Bloom /></g>
          <circle class="bees-ring" r="8" />
          <text class="bees-gain" y="-2">+1</text>
        </g>
      ))}
    </g>
  );
}

function shift({ x, y }: Point): string {
  return `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
}

const PETALS = [0, 60, 120, 180, 240, 300].map((angle) => {
  const turn = ((angle + 30) * Math.PI) / 180;
  return `M${(3.7 * Math.cos(turn) + 2.9).toFixed(2)} ${(3.7 * Math.sin(turn)).toFixed(2)}a2.9 2.9 0 1 0 -5.8 0a2.9 2.9 0 1 0 5.8 0z`;
}).join('');

function Bloom() {
  return <><path class="bees-petals" d={PETALS} /><circle class="bees-heart" r="2.7" /></>;
}

function Flowers({ view, before }: { view: BumblebotsView; before: BumblebotsView | null }) {
  return (
    <g>
      {hexesWhere(view.board, (value) => value === FLOWER).map((hex) => (
        <g key={hex.join()} style={{ transform: shift(centreOf(hex)) }}>
          <g class={`bees-flower${before && valueAt(before, hex) !== FLOWER ? ' growing' : ''}`}><title>Flower at {hex.join(', ')}</title><Bloom /></g>
        </g>
      ))}
    </g>
  );
}

/** All drones, and the drones used up in this step, which fly to their flowers and fade. */
function Drones({ view, before, seats, small, claims }: Props & { claims: readonly Claim[] }) {
  const headings = useRef(new Map<string, number>()).current;
  const flying = view.drones.flatMap((_, seat) => dronesOf(view, seat).map(([name, at]) => ({ name, at, seat, used: false })));
  const used = claims.map(({ drone, seat, hex }) => ({ name: drone, at: hex, seat, used: true }));
  return (
    <g>
      {[...flying, ...used].map(({ name, at, seat, used: gone }) => {
        const from = before?.drones[seat]?.[name]?.position;
        const state = gone ? ' used' : before && !from ? ' growing' : '';
        return (
          <g key={name} class="bee" style={{ transform: shift(centreOf(at)), color: colourOf(playerAt(seats, seat)) }}>
            <title>{name} of {nameOf(seats, seat)}</title>
            <g class={`bee-size${state}`}>
              <g class="bee-heading" style={{ transform: `rotate(${headingOf(headings, name, seat, from, at)}deg)` }}><Bee seat={seat} /></g>
              {!small && <text class="bee-sign" y="2.1">{signOf(playerAt(seats, seat))}</text>}
            </g>
          </g>
        );
      })}
    </g>
  );
}

/** Where a drone looks, in degrees from upwards: as it last moved. It turns by the shorter way. */
function headingOf(headings: Map<string, number>, name: string, seat: number, from: Hex | undefined, at: Hex): number {
  const last = headings.get(name) ?? (seat === 0 ? 180 : 0);
  if (!from || same(from, at)) return last;
  const [one, other] = [centreOf(from), centreOf(at)];
  const wanted = (Math.atan2(other.x - one.x, one.y - other.y) * 180) / Math.PI;
  const heading = last + ((((wanted - last) % 360) + 540) % 360) - 180;
  headings.set(name, heading);
  return heading;
}

/** Seen from above, looking upwards. The first seat's are round, the other's have a sting. */
function Bee({ seat }: { seat: number }) {
  return (
    <>
      <path class="bee-wings" d="M-1.5 -1.5C-9.5 -6.5 -10 2 -2.6 1.2zM1.5 -1.5C9.5 -6.5 10 2 2.6 1.2z" />
      <path class="bee-feelers" d="M-1.6 -6.4l-1.7 -2.1M1.6 -6.4l1.7 -2.1" />
      <circle class="bee-head" cy="-4.6" r="2.5" />
      <path class="bee-body" d={seat === 0 ? 'M-4.4 1.6a4.4 5.2 0 1 1 8.8 0a4.4 5.2 0 1 1 -8.8 0z' : 'M0 -3.8C4.8 -3.8 5.4 1 3.2 4.6L0 9L-3.2 4.6C-5.4 1 -4.8 -3.8 0 -3.8z'} />
      <path class="bee-dark" d={seat === 0 ? 'M-3.6 -1.2h7.2M-3.5 4.6h7' : 'M-3.9 -0.8h7.8M-2.6 5h5.2'} />
    </>
  );
}

export const bumblebots: Renderer<BumblebotsView> = {
  Board: BumblebotsBoard,
  describe,
  scores: (view) => view.score,
  marks,
  moveInWords,
  silent: () => 'Nobody gives an order.',
  help: 'Choose a drone by a click or Tab, and its way by a click on a hex beside it or the keys W E A D Z X; S or . lets it stay. '
    + 'The orders are sent when all drones have one, or by Enter.',
};
