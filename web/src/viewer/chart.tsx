/** A chart over the frames of a match. It shows the current frame; a click goes to another. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { signOf } from '../renderers/renderer';
import { theme } from '../theme';
import type { Playback } from './playback';

export interface Series {
  player: number;
  name: string;
  values: (number | null)[];
}

export interface ChartData {
  /** Frames. */
  x: number[];
  series: Series[];
}

interface ChartProps {
  title: string;
  /** The same in words, for screen readers. */
  summary: string;
  data: () => ChartData;
  /** Changes when there are more data. */
  version: number;
  /** The number of series. */
  players: number;
  playback: Playback;
  /** Dots in place of lines. */
  dots?: boolean;
  /** The values at the bottom and at the top; none: those of the data. */
  range?: [number, number];
  /** Format a value of the vertical axis. */
  unit: (value: number) => string;
  /** Format a frame of the horizontal axis. */
  label: (index: number) => string;
}

const HEIGHT = 150;
/** Dashes, so that lines can be told apart without colour. */
const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
/** Milliseconds between two redraws of a live match. */
const REDRAW = 500;

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = usePlot(box, props);
  const { playback, title, summary } = props;
  const seek = (event: PointerEvent) => plot && event.buttons === 1 && playback.seek(pointed(plot, event));
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div class="chart-box" ref={box} role="img" aria-label={`${title}. ${summary}`} onPointerDown={seek} onPointerMove={seek}>
        {plot && <Needle plot={plot} playback={playback} />}
      </div>
    </figure>
  );
}

/** The needle at the current frame. */
function Needle({ plot, playback }: { plot: uPlot; playback: Playback }) {
  const [, move] = useState(0);
  useEffect(() => {
    const moved = () => move((count) => count + 1);
    (plot.hooks.setScale ??= []).push(moved);
    (plot.hooks.setSize ??= []).push(moved);
  }, [plot]);
  const at = plot.bbox.left / devicePixelRatio + Math.max(0, plot.valToPos(playback.index.value, 'x') || 0);
  return <i class="chart-needle" style={{ transform: `translateX(${at}px)` }} aria-hidden="true" />;
}

/** The plot; made again when the theme changes, and updated as data arrive. */
function usePlot(box: { current: HTMLDivElement | null }, props: ChartProps): uPlot | null {
  const [plot, setPlot] = useState<uPlot | null>(null);
  const near = useNear(box);
  const colours = theme.value;
  useEffect(() => {
    if (!near) return;
    let made: uPlot | null = null;
    let wanted = true;
    const resize = new ResizeObserver(() => box.current && made?.setSize({ width: box.current.clientWidth, height: HEIGHT }));
    void import('uplot').then(({ default: Plot }) => {
      if (!wanted || !box.current) return;
      made = new Plot(options(box.current, props), aligned(props.data()), box.current);
      resize.observe(box.current);
      setPlot(made);
    });
    return () => {
      wanted = false;
      resize.disconnect();
      made?.destroy();
      setPlot(null);
    };
  }, [near, colours, props.players]);
  useRedraw(plot, props);
  return plot;
}

function useRedraw(plot: uPlot | null, props: ChartProps): void {
  const latest = useRef(props);
  latest.current = props;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    if (!plot || timer.current) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      plot.setData(aligned(latest.current.data()));
    }, REDRAW);
  }, [plot, props.version]);
  useEffect(() => () => {
    clearTimeout(timer.current);
    timer.current = undefined;
  }, [plot]);
}

/** Whether an element is near the visible part of the page. */
function useNear(box: { current: HTMLDivElement | null }): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setNear(true), { rootMargin: '200px' });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return near;
}

function options(box: HTMLElement, { data, unit, label, dots, range }: ChartProps): uPlot.Options {
  const colour = (name: string) => getComputedStyle(box).getPropertyValue(name).trim() || '#888';
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '12px system-ui' };
  return {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: !dots } },
    scales: { x: { time: false }, ...(range && { y: { range: [Math.min(...range), Math.max(...range)], dir: range[0] < range[1] ? 1 : -1 } }) },
    axes: [
      { ...axis, size: 24, values: (_, values) => once(values.map((value) => (Number.isInteger(value) ? label(value) : ''))) },
      { ...axis, size: 56, values: (_, values) => once(values.map(unit)) },
    ],
    series: [{}, ...data().series.map(({ player, name }) => ({
      label: `${signOf(player)} ${name}`,
      stroke: colour(`--seat-${player % 10}`),
      width: dots ? 0 : 1.8,
      dash: DASHES[player % DASHES.length] ?? [],
      spanGaps: true,
      points: dots ? { show: true, size: 4, fill: colour(`--seat-${player % 10}`) } : { show: false },
    }))],
  };
}

/** Labels without those that repeat the one before. */
export function once(labels: readonly string[]): string[] {
  return labels.map((label, at) => (label === labels[at - 1] ? '' : label));
}

function aligned({ x, series }: ChartData): uPlot.AlignedData {
  return [x, ...series.map(({ values }) => values)];
}

/** The frame under the pointer. */
function pointed(plot: uPlot, event: PointerEvent): number {
  return Math.round(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x'));
}
