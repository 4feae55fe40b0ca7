/** The position in words; screen readers announce it when the user stops or steps. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Showing } from './showing';
import { useSeats } from './stage';

/** Milliseconds without a change before the position is announced, so that a screen reader is not flooded. */
const REST = 400;

export function PositionText({ film, renderer, playback, inWords, visible }: Showing & { visible: boolean }) {
  const index = Math.min(playback.index.value, film.length - 1);
  const frame = film.frame(index);
  const seats = useSeats(film, frame);
  const [open, setOpen] = useState(false);
  const runs = playback.playing.value || playback.following.value;
  const told = useRested(runs ? null : index);
  const describe = (at: number) => renderer.describe(film.frame(at).view, seats);
  const spoken = useMemo(() => (told === null || told >= film.length ? '' : `${inWords(told)} ${describe(told)}`), [told, inWords]);
  return (
    <>
      <p class="hidden" aria-live="polite">{spoken}</p>
      {visible && (
        <details class="position-text" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>The position in words</summary>
          {open && <p>{describe(index)}</p>}
        </details>
      )}
    </>
  );
}

/** The value that has not changed for a while; null at first. */
function useRested(value: number | null): number | null {
  const [rested, setRested] = useState<number | null>(null);
  const [first] = useState(value);
  useEffect(() => {
    if (value === first && rested === null) return;
    const timer = setTimeout(() => setRested(value), REST);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
