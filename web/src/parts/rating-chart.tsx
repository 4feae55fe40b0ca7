/** The rating of a bot over its matches, with the interval as a band. */
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { RatingPoint } from '../api/types';
import { theme } from '../theme';

const HEIGHT = 220;

export function RatingChart({ points }: { points: readonly RatingPoint[] }) {
  const box = useRef<HTMLDivElement>(null);
  const colours = theme.value;
  useEffect(() => {
    let made: uPlot | null = null;
    let wanted = true;
    const resize = new ResizeObserver(() => box.current && made?.setSize({ width: box.current.clientWidth, height: HEIGHT }));
    void import('uplot').then(({ default: Plot }) => {
      if (!wanted || !box.current) return;
      made = new Plot(options(box.current), dataOf(points), box.current);
      resize.observe(box.current);
    });
    return () => {
      wanted = false;
      resize.disconnect();
      made?.destroy();
    };
  }, [points, colours]);
  return (
    <figure class="rating-chart">
      <figcaption class="quiet">Rating by the number of rated matches{points.some(({ low }) => low !== null) && '; the band is the 95 % interval'}</figcaption>
      <div ref={box} role="img" aria-label={inWords(points)} />
    </figure>
  );
}

function inWords(points: readonly RatingPoint[]): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return 'No rating yet';
  const interval = last.low === null || last.high === null ? '' : `, between ${Math.round(last.low)} and ${Math.round(last.high)}`;
  return `The rating went from ${Math.round(first.rating)} to ${Math.round(last.rating)}${interval}, over ${last.games} ${last.games === 1 ? 'match' : 'matches'}`;
}

function dataOf(points: readonly RatingPoint[]): uPlot.AlignedData {
  return [points.map(({ games }) => games), points.map(({ rating }) => rating), points.map(({ high }) => high), points.map(({ low }) => low)];
}

/** The first matches say little: their wide intervals would flatten all the rest. */
function range(data: uPlot.AlignedData): [number, number] {
  const known = (line: (number | null | undefined)[] | undefined, from: number) => (line ?? []).slice(from).filter((value): value is number => value !== null && value !== undefined);
  const from = Math.floor(data[0].length / 10);
  const values = [...known(data[1] as number[], 0), ...known(data[2] as number[], from), ...known(data[3] as number[], from)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return [low - 20, high + 20];
}

function options(box: HTMLElement): uPlot.Options {
  const colour = (name: string) => getComputedStyle(box).getPropertyValue(name).trim() || '#888';
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '12px system-ui' };
  const edge = { stroke: 'transparent', width: 0, points: { show: false } };
  return {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false }, y: { range: (plot) => range(plot.data) } },
    axes: [{ ...axis, size: 28, values: (_, values) => values.map((value) => (Number.isInteger(value) ? String(value) : '')) }, { ...axis, size: 52 }],
    series: [{}, { stroke: colour('--accent'), width: 2, points: { show: false } }, edge, edge],
    bands: [{ series: [2, 3], fill: `color-mix(in srgb, ${colour('--accent')} 18%, transparent)` }],
  };
}
