/** Bomberman: a floor with pillars and crates, users, bombs with their fuses, and the tiles that they will burn. */
import { useMemo } from 'preact/hooks';
import { ActionPad, Reach, useActions } from './bomberman_play';
import {
  type Bomb, type BombermanView, type Burn, type Place, type Upgrade, CRATE, FREE, WALL, burnPlan, isPillar, moveInWords, placesOf, same, tileAt,
  upgradeInWords,
} from './bomberman_view';
import { describe, fallen, marks } from './bomberman_words';
import { BomberStats } from './bomberman_stats';
import { type BoardProps, type Renderer, type Seat, colourOf, nameOf, signOf } from './renderer';

type Props = BoardProps<BombermanView>;

/** The width of a tile, in the units of the picture. */
const TILE = 10;
/** Rounds by which closing walls are announced ahead. */
const NOTICE = 40;

function BombermanBoard(props: Props) {
  const { view, before, seats, small } = props;
  const actions = useActions(props);
  const plan = useMemo(() => burnPlan(view), [view]);
  return (
    <div class={`bomber${small ? ' small' : ''}${before ? '' : ' still'}`}>
      <div class="bomber-inner">
        <div>
          <svg
            class={`bomber-map${actions ? ' playing' : ''}`} viewBox={`-2 -2 ${view.width * TILE + 4} ${view.height * TILE + 4}`} role="img"
            aria-label={`The map in round ${view.round} of ${view.rounds}`}
            onClick={actions ? (event) => actions.touch(tileOf(event)) : undefined}
          >
            <Ground view={view} />
            <Closing view={view} before={before} />
            {plan.map((burn) => <Blast key={keyOf(burn.bomb)} burn={burn} seats={seats} />)}
            <Flames view={view} before={before} />
            {actions && <Reach view={view} actions={actions} size={TILE} />}
            {view.upgrades.map((upgrade) => <UpgradeSign key={upgrade.at.join()} upgrade={upgrade} fresh={before !== null && !before.upgrades.some(({ at }) => same(at, upgrade.at))} />)}
            {view.bombs.map((bomb) => <BombSign key={keyOf(bomb)} bomb={bomb} seats={seats} under={view.users.some(({ at }) => at && same(at, bomb.at))} />)}
            <Crosses {...props} />
            <Users {...props} />
          </svg>
          {actions && <ActionPad actions={actions} />}
        </div>
        {!small && <BomberStats view={view} seats={seats} />}
      </div>
    </div>
  );
}

/** The tile of a click. */
function tileOf(event: MouseEvent & { currentTarget: SVGSVGElement }): Place {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(event.currentTarget.getScreenCTM()?.inverse());
  return [Math.floor(point.y / TILE), Math.floor(point.x / TILE)];
}

function keyOf({ seat, at }: Bomb): string {
  return `${seat}:${at.join()}`;
}

function playerAt(seats: readonly Seat[], seat: number): number {
  return seats[seat]?.player ?? seat;
}

/** Squares as one path, each smaller than its tile by this margin. */
function squares(places: readonly Place[], inset: number, shift = 0): string {
  const side = TILE - 2 * inset;
  return places.map(([row, column]) => `M${column * TILE + inset} ${row * TILE + inset + shift}h${side}v${side}h${-side}z`).join('');
}

/** The boards of crates: a frame and a cross bar. */
function planks(places: readonly Place[]): string {
  return places.map(([row, column]) => `M${column * TILE + 2.2} ${row * TILE + 1.8}h5.6v5.6h-5.6zl5.6 5.6`).join('');
}

/** The parts that seldom change, in few elements, each redrawn only when it changes. */
function Ground({ view: { tiles, height, width } }: { view: BombermanView }) {
  const floor = useMemo(() => (
    <g>
      <rect class="bomber-floor" x="-1" y="-1" width={width * TILE + 2} height={height * TILE + 2} rx="2" />
      <path class="bomber-floor other" d={squares(oddPlaces(height, width), 0)} />
    </g>
  ), [height, width]);
  const rows = tiles.join();
  const walls = useMemo(() => <Walls places={placesOf(tiles, WALL)} />, [rows.replaceAll(CRATE, FREE)]);
  const crates = useMemo(() => <Crates places={placesOf(tiles, CRATE)} />, [rows]);
  return <g>{floor}{walls}{crates}</g>;
}

function Walls({ places }: { places: readonly Place[] }) {
  return (
    <>
      <path class="bomber-wall-side" d={squares(places, 0.3)} />
      <path class="bomber-wall" d={squares(places, 1, -0.7)} />
      <path class="bomber-closed" d={places.filter((place) => !isPillar(place)).map(([row, column]) => `M${column * TILE + 3} ${row * TILE + 2.3}l4 4m0 -4l-4 4`).join('')} />
    </>
  );
}

function oddPlaces(height: number, width: number): Place[] {
  return Array.from({ length: height * width }, (_, at): Place => [Math.floor(at / width), at % width]).filter(([row, column]) => (row + column) % 2 === 1);
}

function Crates({ places }: { places: readonly Place[] }) {
  return (
    <>
      <path class="bomber-crate-side" d={squares(places, 0.5)} />
      <path class="bomber-crate" d={squares(places, 0.9, -0.4)} />
      <path class="bomber-planks" d={planks(places)} />
    </>
  );
}

/** The tiles that turn into walls next, and those that just did. */
function Closing({ view, before }: { view: BombermanView; before: BombermanView | null }) {
  const left = view.closing.at === null ? Infinity : view.closing.at - view.round + 1;
  const closed = before && before.closing.at !== view.closing.at ? placesOf(view.tiles, WALL).filter((place) => tileAt(before.tiles, place) !== WALL) : [];
  return (
    <g>
      {closed.length > 0 && before && <g key={view.round} class="fading"><path class="bomber-floor" d={squares(closed, 0)} /></g>}
      {left <= NOTICE && <path class={`bomber-closing${left <= 3 ? ' soon' : ''}`} d={squares(view.closing.next, 0.9)} />}
    </g>
  );
}

/** Where a bomb will burn: the sooner, the stronger. */
function Blast({ burn: { bomb, places, turns }, seats }: { burn: Burn; seats: readonly Seat[] }) {
  return (
    <path
      class={`bomber-blast in-${Math.min(turns, 4)}`} style={{ color: colourOf(playerAt(seats, bomb.seat)) }} d={crossOf(bomb.at, places)}
    />
  );
}

/** The outline of the flames of one bomb. */
function crossOf([row, column]: Place, places: readonly Place[]): string {
  const rows = places.filter((place) => place[1] === column).map((place) => place[0]);
  const columns = places.filter((place) => place[0] === row).map((place) => place[1]);
  const inset = 0.7;
  const edge = (tile: number, far: number) => (tile + far) * TILE + (far ? -inset : inset);
  const [top, bottom] = [edge(Math.min(...rows), 0), edge(Math.max(...rows), 1)];
  const [left, right] = [edge(Math.min(...columns), 0), edge(Math.max(...columns), 1)];
  const [x0, x1, y0, y1] = [edge(column, 0), edge(column, 1), edge(row, 0), edge(row, 1)];
  return `M${x0} ${top}H${x1}V${y0}H${right}V${y1}H${x1}V${bottom}H${x0}V${y1}H${left}V${y0}H${x0}z`;
}

/** The flames of the last round over those before. They fade in and out, since nothing may flash. */
function Flames({ view, before }: { view: BombermanView; before: BombermanView | null }) {
  const burned = before && view.explosions.length ? placesOf(before.tiles, CRATE).filter((place) => tileAt(view.tiles, place) !== CRATE) : [];
  return (
    <g>
      {burned.length > 0 && <g key={`crates ${view.round}`} class="fading"><Crates places={burned} /></g>}
      {before && before.explosions.length > 0 && before.round !== view.round && <Fire key={before.round} places={before.explosions} out />}
      {view.explosions.length > 0 && <Fire key={view.round} places={view.explosions} />}
    </g>
  );
}

function Fire({ places, out = false }: { places: readonly Place[]; out?: boolean }) {
  const d = useMemo(() => fireOf(places), [places]);
  return <g class={`bomber-fire${out ? ' out' : ''}`}><path d={d} /><path d={d} /><path d={d} /></g>;
}

/** Burned tiles as strokes from middle to middle. */
function fireOf(places: readonly Place[]): string {
  const has = new Set(places.map((place) => place.join()));
  return places.map(([row, column]) => {
    const at = `M${column * TILE + 5} ${row * TILE + 5}`;
    return `${at}h0${has.has(`${row},${column + 1}`) ? `h${TILE}` : ''}${has.has(`${row + 1},${column}`) ? `${at}v${TILE}` : ''}`;
  }).join('');
}

function shift([row, column]: Place): string {
  return `translate(${column * TILE + 5}px, ${row * TILE + 5}px)`;
}

function UpgradeSign({ upgrade: { at, type }, fresh }: { upgrade: Upgrade; fresh: boolean }) {
  return (
    <g style={{ transform: shift(at) }}>
      <title>Upgrade: {upgradeInWords(type)}</title>
      <g class={fresh ? 'growing' : undefined}>
        <rect class="bomber-upgrade" x="-3.6" y="-3.6" width="7.2" height="7.2" rx="1.6" />
        {type === 'ADDITIONAL_BOMB'
          ? <><circle class="bomber-upgrade-bomb" cx="-0.7" cy="0.8" r="2" /><path class="bomber-upgrade-line" d="M1.9 -2.7v2.6M0.6 -1.4h2.6" /></>
          : <path class="bomber-upgrade-line" d="M0 -2.6V2.6M-2.6 0H2.6M-.9 -1.8L0 -2.7L.9 -1.8M-.9 1.8L0 2.7L.9 1.8M-1.8 -.9L-2.7 0L-1.8 .9M1.8 -.9L2.7 0L1.8 .9" />}
      </g>
    </g>
  );
}

/** With its fuse as a number; beside its user if it stands on it. */
function BombSign({ bomb: { at, turnsLeft, range, seat }, seats, under }: { bomb: Bomb; seats: readonly Seat[]; under: boolean }) {
  return (
    <g style={{ transform: shift(at), color: colourOf(playerAt(seats, seat)) }}>
      <title>Bomb of {nameOf(seats, seat)}: {turnsLeft} left, range {range}</title>
      <g class={`bomber-bomb${under ? ' under' : ''}`}>
        <path class="bomber-fuse" d="M1.6 -2.6q1 -1.8 2.4 -1.2" />
        <circle class="bomber-spark" cx="4" cy="-3.8" r=".75" />
        <circle class="bomber-ball" cy=".4" r="3.3" />
        <text class="bomber-count" y="2.2">{turnsLeft}</text>
      </g>
    </g>
  );
}

/** The living users, and the users that died in this step, which fade where they last stood. */
function Users({ view, before, seats, small }: Props) {
  const shown = view.users.flatMap(({ seat, at }) => {
    const place = at ?? before?.users[seat]?.at;
    return place ? [{ seat, place, dead: !at }] : [];
  });
  return (
    <g>
      {shown.map(({ seat, place, dead }) => {
        const player = playerAt(seats, seat);
        const lifted = !dead && view.bombs.some((bomb) => same(bomb.at, place));
        return (
          <g key={seat} class="bomber-user" style={{ transform: shift(place), color: colourOf(player) }}>
            <title>{nameOf(seats, seat)}{dead ? ' dies' : ''}</title>
            <g class={`bomber-figure${dead ? ' dead' : ''}${lifted ? ' lifted' : ''}`}>
              {small ? <circle class="bomber-disc" r="3.9" /> : <Figure />}
              <text class="bomber-sign" y={small ? 2.3 : 4}>{signOf(player)}</text>
              {view.you === seat && !small && <path class="bomber-you" d="M-1.3 -6.9h2.6l-1.3 1.5z" />}
            </g>
          </g>
        );
      })}
    </g>
  );
}

/** Where users died, for the rest of the match. */
function Crosses({ crosses = [], seats }: Props) {
  return (
    <g>
      {crosses.map(({ seat, place }) => (
        <g key={seat} class="bomber-cross" style={{ transform: shift(place as Place), color: colourOf(playerAt(seats, seat)) }}>
          <title>{nameOf(seats, seat)} died here</title>
          <path d="M-2.6 -2.6l5.2 5.2m0 -5.2l-5.2 5.2" /><path d="M-2.6 -2.6l5.2 5.2m0 -5.2l-5.2 5.2" />
        </g>
      ))}
    </g>
  );
}

function Figure() {
  return (
    <>
      <path class="bomber-body" d="M-2.9 4.4Q-3.1 .6 0 .6T2.9 4.4q-2.9 .9 -5.8 0z" />
      <path class="bomber-feeler" d="M0 -4V-5.2" />
      <circle class="bomber-body" cy="-5.4" r=".7" />
      <circle class="bomber-body" cy="-1.7" r="2.7" />
      <rect class="bomber-face" x="-1.9" y="-2.9" width="3.8" height="2.3" rx="1.1" />
      <path class="bomber-eyes" d="M-.75 -2.2v.9M.75 -2.2v.9" />
    </>
  );
}

export const bomberman: Renderer<BombermanView> = {
  Board: BombermanBoard,
  describe,
  marks,
  fallen,
  moveInWords,
  silent: () => 'Nobody moves.',
  help: 'Go by the arrow keys, W A S D, or a click on a tile beside you; place a bomb by the space bar or a click on yourself; wait by . or Escape.',
};
