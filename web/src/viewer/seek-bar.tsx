/** The seek bar: a slider over all frames, with marks for important events. */
import { useMemo, useState } from 'preact/hooks';
import { colourOf } from '../renderers/renderer';
import { thinned, type Placed } from './digest';
import { stepOf, type Showing } from './showing';

const PLACES = 160;
/** The greatest distance from the pointer to a mark, as a fraction of the bar. */
const NEAR = 0.012;

export function SeekBar({ film, playback, digest, version, ...showing }: Showing) {
  const { length } = film;
  const inWords = (index: number) => `Step ${stepOf(digest, index)}: ${showing.inWords(index)}`;
  const [hover, setHover] = useState<number | null>(null);
  const shown = useMemo(() => thinned(digest.marks, length, PLACES), [digest, version, length]);
  const last = Math.max(1, length - 1);
  const marks = useMemo(() => <Marks marks={shown} last={last} />, [shown, last]);
  const index = playback.index.value;
  const seek = (value: string) => playback.seek(Number(value));
  return (
    <div class="seek" style={{ '--at': index / last }} onPointerMove={(event) => setHover(pointed(event))} onPointerLeave={() => setHover(null)}>
      {marks}
      <input
        class="seek-slider" type="range" min={0} max={length - 1} step={1} value={index} aria-label="Position in the match" aria-valuetext={inWords(index)}
        onInput={(event) => seek(event.currentTarget.value)}
      />
      {hover !== null && <Hint at={hover} last={last} marks={shown} inWords={inWords} />}
    </div>
  );
}

function Marks({ marks, last }: { marks: readonly Placed[]; last: number }) {
  return (
    <div class="seek-marks" aria-hidden="true">
      {marks.map((mark) => (
        <i key={`${mark.index}-${mark.kind}`} class={`mark mark-${mark.kind}`} style={markStyle(mark, last)} />
      ))}
    </div>
  );
}

/** The tooltip under the pointer. */
function Hint({ at, last, marks, inWords }: { at: number; last: number; marks: readonly Placed[]; inWords: (index: number) => string }) {
  const near = marks.find((mark) => Math.abs(mark.index / last - at) < NEAR);
  const index = near?.index ?? Math.round(at * last);
  const side = at < 0.2 ? 'left' : at > 0.8 ? 'right' : 'middle';
  return (
    <div class={`seek-hint ${side}`} style={{ '--at': index / last }} aria-hidden="true">
      {near ? <strong>{near.words}</strong> : inWords(index)}
    </div>
  );
}

function markStyle(mark: Placed, last: number): Record<string, string | number> {
  return { '--at': mark.index / last, ...(mark.player === undefined ? {} : { '--mark': colourOf(mark.player) }) };
}

/** The position of the pointer on the bar, from 0 to 1, without half the slider's thumb on each side. */
function pointed(event: PointerEvent): number {
  const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
  return Math.max(0, Math.min(1, (event.clientX - left - THUMB / 2) / (width - THUMB)));
}

const THUMB = 16;
