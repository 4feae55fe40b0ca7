/** The list of events, in words. Only the visible rows of a long list are rendered. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { stepOf, type Showing } from './showing';

/** The height of a row in pixels, as in the style sheet. */
const ROW = 30;
const SPARE = 8;

export function EventList({ film, playback, digest, inWords }: Showing) {
  const { length } = film;
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  const index = playback.index.value;
  const look = () => void (box.current && setSeen({ top: box.current.scrollTop, height: box.current.clientHeight }));
  useEffect(look, []);
  useEffect(() => void (box.current && !box.current.matches(':hover, :focus-within') && reveal(box.current, index)), [index]);
  const first = Math.max(0, Math.floor(seen.top / ROW) - SPARE);
  const end = Math.min(length, Math.ceil((seen.top + seen.height) / ROW) + SPARE);
  return (
    <div class="events" ref={box} onScroll={look} tabIndex={0} role="region" aria-label="Events">
      <ol style={{ height: `${length * ROW}px` }}>
        {Array.from({ length: Math.max(0, end - first) }, (_, place) => first + place).map((at) => (
          <li key={at} style={{ top: `${at * ROW}px` }} aria-setsize={length} aria-posinset={at + 1}>
            <button type="button" class={`event event-${digest.events[at]?.event.replace(' ', '-') ?? 'snapshot'}`} aria-current={at === index ? 'step' : undefined} onClick={() => playback.seek(at)}>
              <span class="event-step">{stepOf(digest, at)}</span>
              <span class="event-words" title={inWords(at)}>{inWords(at)}</span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Scroll the list, and nothing else, so that the row is in it. */
function reveal(box: HTMLElement, index: number): void {
  const top = index * ROW;
  if (top < box.scrollTop + ROW || top > box.scrollTop + box.clientHeight - 2 * ROW) box.scrollTop = top - box.clientHeight / 2;
}
