/** The arrow of the last shot in battleship, from the shooter to the square, over all boards. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { middleOf } from './battleship_sea';
import { lastShot, type BattleshipView } from './battleship_words';

type Place = readonly [x: number, y: number];

interface Ends {
  from: Place;
  to: Place;
}

/** An arc between two places that begins and ends a little inside of them, and where its head points. */
export function arcOf({ from, to }: Ends, [before, after]: Place): { path: string; end: Place; angle: number } {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const bend: Place = [from[0] + dx / 2 + dy * 0.14, from[1] + dy / 2 - dx * 0.14];
  const end = towards(to, bend, after);
  const path = `M ${towards(from, bend, before).join(' ')} Q ${bend.join(' ')} ${end.join(' ')}`;
  return { path, end, angle: (Math.atan2(to[1] - bend[1], to[0] - bend[0]) * 180) / Math.PI };
}

function towards(from: Place, to: Place, by: number): Place {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  return [from[0] + ((to[0] - from[0]) / length) * by, from[1] + ((to[1] - from[1]) / length) * by];
}

/** Where the shooter's sign and the square are on the screen, within the element around all boards. */
function endsIn(around: HTMLElement, view: BattleshipView, narrow: boolean): Ends | null {
  const shot = lastShot(view);
  const sign = shot && around.querySelector(`[data-seat="${shot.shooter}"] .sea-sign`);
  const sea = shot && around.querySelector(`[data-seat="${shot.target}"] svg`);
  if (!shot || !sign || !sea) return null;
  const [outer, from, to] = [around, sign, sea].map((element) => element.getBoundingClientRect()) as [DOMRect, DOMRect, DOMRect];
  const [x, y] = middleOf(shot.x, shot.y, view, narrow);
  return {
    from: [from.left + from.width / 2 - outer.left, from.top + from.height / 2 - outer.top],
    to: [to.left + x * to.width - outer.left, to.top + y * to.height - outer.top],
  };
}

interface ShotArrowProps {
  around: RefObject<HTMLElement | null>;
  view: BattleshipView;
  /** Changes with the layout of the boards. */
  layout: string;
  /** Boards without coordinates. */
  narrow: boolean;
  colour: string;
}

export function ShotArrow({ around, view, layout, narrow, colour }: ShotArrowProps) {
  const [ends, setEnds] = useState<Ends | null>(null);
  const turn = view.turns.reduce((sum, turns) => sum + turns, 0);
  useLayoutEffect(() => setEnds(around.current && endsIn(around.current, view, narrow)), [turn, view.phase, layout]);
  if (!ends) return null;
  const { path, end, angle } = arcOf(ends, [14, 9]);
  return (
    <svg class="shot-arrow" aria-hidden="true" style={{ color: colour }}>
      <g key={turn}>
        <path class="shot-halo" d={path} pathLength={1} />
        <path class="shot-line" d={path} pathLength={1} />
        <path class="shot-head" d="M 1 0 L -9 -5 L -6.5 0 L -9 5 Z" transform={`translate(${end.join(' ')}) rotate(${angle})`} />
      </g>
    </svg>
  );
}
