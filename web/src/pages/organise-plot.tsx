/** The scores of games in a row as a plot, a line for each player. */
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { CubeScores } from '../api/types';
import { colourOf, signOf } from '../renderers/renderer';
import { theme } from '../theme';
import { inWords, plotted, summaries } from './organise-scores';

const HEIGHT = 220;
/** The most lines that can be told apart. */
const MOST_LINES = 10;
/** Dashes, so that lines can be told apart without colour. */
const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

interface PlotProps {
  results: readonly CubeScores[];
  names: readonly string[];
}

export function ScorePlot({ results, names }: PlotProps) {
  const shown = names.slice(0, MOST_LINES);
  const box = usePlot(results, shown);
  return (
    <figure class="score-plot">
      <figcaption class="quiet">Score by game</figcaption>
      <div ref={box} role="img" aria-label={inWords(summaries(results, names), results.length)} />
      <ul class="plot-legend" aria-hidden="true">
        {shown.map((name, player) => <li key={name}><i class="sign" style={{ '--seat': colourOf(player) }}>{signOf(player)}</i> <bdi>{name}</bdi></li>)}
      </ul>
    </figure>
  );
}

function usePlot(results: readonly CubeScores[], names: readonly string[]) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(results);
  latest.current = results;
  const colours = theme.value;
  useEffect(() => {
    let wanted = true;
    const resize = new ResizeObserver(() => box.current && plot.current?.setSize({ width: box.current.clientWidth, height: HEIGHT }));
    void import('uplot').then(({ default: Plot }) => {
      if (!wanted || !box.current) return;
      plot.current = new Plot(options(box.current, names), plotted(latest.current, names), box.current);
      resize.observe(box.current);
    });
    return () => {
      wanted = false;
      resize.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [names.join('\n'), colours]);
  useEffect(() => plot.current?.setData(plotted(results, names)), [results.length]);
  return box;
}

function options(box: HTMLElement, names: readonly string[]): uPlot.Options {
  const colour = (name: string) => getComputedStyle(box).getPropertyValue(name).trim() || '#888';
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '12px system-ui' };
  return {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false } },
    axes: [{ ...axis, size: 28, values: (_, values) => values.map((value) => (Number.isInteger(value) ? String(value) : '')) }, { ...axis, size: 48 }],
    series: [{}, ...names.map((label, player) => ({
      label,
      stroke: colour(`--seat-${player % 10}`),
      width: 1.8,
      dash: DASHES[player % DASHES.length] ?? [],
      points: { show: true, size: 4, fill: colour(`--seat-${player % 10}`) },
    }))],
  };
}
