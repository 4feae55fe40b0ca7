/** Placing a fleet in battleship: boats are dragged, moved by taps or by keys, and turned. */
import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { boatsOf, movedTo, overlapping, randomFleet, rowsOf, turned, type PlacedBoat } from './battleship_fleet';
import { hullPath, SQUARE, Water } from './battleship_sea';
import { squareName, type BattleshipView } from './battleship_words';
import { walked } from './cells';

/** The boat that the pointer holds: how far from its first square, and whether it has moved yet. */
interface Drag {
  letter: string;
  dx: number;
  dy: number;
  moved: boolean;
  /** Whether the boat was the chosen one before, so that a click turns it. */
  chosen: boolean;
}

interface Fleet {
  boats: PlacedBoat[];
  chosen: string;
  change(letter: string, changed: (boat: PlacedBoat) => PlacedBoat): void;
  choose(letter: string): void;
}

/** The square under the pointer; it may lie beside the board. */
function squareAt(event: TargetedPointerEvent<SVGElement>): [number, number] {
  const svg = event.currentTarget.ownerSVGElement!;
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM()!.inverse());
  return [Math.floor(point.x / SQUARE), Math.floor(point.y / SQUARE)];
}

function usePointer(view: BattleshipView, fleet: Fleet) {
  const drag = useRef<Drag | null>(null);
  const take = (boat: PlacedBoat, event: TargetedPointerEvent<SVGElement>) => {
    const [x, y] = squareAt(event);
    drag.current = { letter: boat.letter, dx: x - boat.x, dy: y - boat.y, moved: false, chosen: fleet.chosen === boat.letter };
    event.currentTarget.setPointerCapture(event.pointerId);
    fleet.choose(boat.letter);
  };
  const pull = (event: TargetedPointerEvent<SVGElement>) => {
    const held = drag.current;
    if (!held) return;
    const [x, y] = squareAt(event);
    fleet.change(held.letter, (boat) => {
      const next = movedTo(boat, x - held.dx, y - held.dy, view);
      held.moved ||= next.x !== boat.x || next.y !== boat.y;
      return next;
    });
  };
  const drop = () => {
    const held = drag.current;
    drag.current = null;
    if (held?.chosen && !held.moved) fleet.change(held.letter, (boat) => turned(boat, view));
  };
  return { take, pull, drop };
}

function BoatToPlace({ boat, view, fleet, wrong, pointer }: {
  boat: PlacedBoat; view: BattleshipView; fleet: Fleet; wrong: boolean; pointer: ReturnType<typeof usePointer>;
}) {
  const { letter, length, x, y, down } = boat;
  const keyed = (event: TargetedKeyboardEvent<SVGGElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = walked(event.key, [x, y], view.width, view.height);
    if (next) fleet.change(letter, (old) => movedTo(old, ...next, view));
    else if (['r', 'R', 'Enter', ' '].includes(event.key)) fleet.change(letter, (old) => turned(old, view));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const classes = ['boat', fleet.chosen === letter && 'chosen', wrong && 'wrong'].filter(Boolean).join(' ');
  return (
    <g
      class={classes} role="button" tabindex={0} aria-pressed={fleet.chosen === letter}
      aria-label={`Boat ${letter}, ${length} long, ${down ? 'down' : 'across'} from ${squareName(x, y)}${wrong ? ', overlaps another boat' : ''}`}
      onFocus={() => fleet.choose(letter)} onKeyDown={keyed}
      onPointerDown={(event) => pointer.take(boat, event)} onPointerMove={pointer.pull} onPointerUp={pointer.drop}
      onPointerCancel={pointer.drop}
    >
      <g class="boat-place" style={{ transform: `translate(${x * SQUARE}px, ${y * SQUARE}px)` }}>
        <g transform={down ? 'matrix(0 1 1 0 0 0)' : ''}>
          <rect class="boat-area" width={length * SQUARE} height={SQUARE} />
          <path class="hull-body" d={hullPath(length)} />
          <path class="hull-deck" d={`M ${SQUARE * 0.55} ${SQUARE / 2} H ${(length - 1) * SQUARE - 1}`} />
        </g>
        <text class="hull-letter" x={down ? SQUARE / 2 : (length - 0.5) * SQUARE} y={(down ? (length - 0.5) * SQUARE : SQUARE / 2) + 3.6}>{letter}</text>
      </g>
    </g>
  );
}

function useFleet(view: BattleshipView) {
  const draw = () => randomFleet(boatsOf(view.boats), view, Math.random);
  const [boats, setBoats] = useState(draw);
  const [chosen, choose] = useState('');
  const change = (letter: string, changed: (boat: PlacedBoat) => PlacedBoat) =>
    setBoats((all) => all.map((boat) => (boat.letter === letter ? changed(boat) : boat)));
  return { boats, chosen, change, choose, redraw: () => setBoats(draw()) };
}

/** The hint about the next action. */
export function advice(wrong: readonly string[], sent: string | null, rows: string): string {
  if (wrong.length) return `Boats ${wrong.join(' and ')} overlap: move one of them.`;
  if (sent === null) return 'Drag the boats to where you want them. Tap or click a boat to choose it, and again to turn it.';
  if (sent === rows) return 'Your fleet is placed. You can change it until all players have placed theirs.';
  return 'You changed your fleet: place it again, or the earlier one counts.';
}

export function Placing({ view, place }: { view: BattleshipView; place: ((rows: string[]) => void) | undefined }) {
  const fleet = useFleet(view);
  const [sent, setSent] = useState<string | null>(null);
  const pointer = usePointer(view, fleet);
  const wrong = overlapping(fleet.boats);
  const rows = wrong.length ? [] : rowsOf(fleet.boats, view);
  const send = () => {
    setSent(rows.join());
    place?.(rows);
  };
  const toWater = (event: TargetedPointerEvent<SVGElement>) => {
    const square = squareAt(event);
    fleet.change(fleet.chosen, (boat) => movedTo(boat, ...square, view));
  };
  return (
    <div class="battleship placing">
      <p class="placing-advice" role="status">{advice(wrong, sent, rows.join())}</p>
      <div role="group" aria-label="Your board">
        <Water width={view.width} height={view.height} small={false}>
          <rect class="placing-water" width={view.width * SQUARE} height={view.height * SQUARE} onPointerDown={toWater} />
          {fleet.boats.map((boat) => (
            <BoatToPlace key={boat.letter} boat={boat} view={view} fleet={fleet} wrong={wrong.includes(boat.letter)} pointer={pointer} />
          ))}
        </Water>
      </div>
      <div class="placing-buttons">
        <button type="button" disabled={!fleet.chosen} onClick={() => fleet.change(fleet.chosen, (boat) => turned(boat, view))}>Turn {fleet.chosen ? `boat ${fleet.chosen}` : 'a boat'}</button>
        <button type="button" onClick={fleet.redraw}>Random fleet</button>
        <button type="button" class="main" disabled={!place || wrong.length > 0 || sent === rows.join()} onClick={send}>Place this fleet</button>
      </div>
    </div>
  );
}
