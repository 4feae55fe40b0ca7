/** The list of events, in words. Of a long list, only the blocks of rows near the visible part are rendered. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { stepOf, type Showing } from './showing';

/** Rows of a block, and the height in pixels that is assumed for a row that is not rendered. */
const BLOCK = 40;
const ROW = 30;

export function EventList(showing: Showing) {
  const { film, playback } = showing;
  const [box, list] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)];
  /** Whether the user has scrolled since the last step. */
  const scrolled = useRef(false);
  const index = playback.index.value;
  const look = () => void (box.current && !scrolled.current && !box.current.matches(':hover, :focus-within') && reveal(box.current));
  useLayoutEffect(() => {
    scrolled.current = false;
    look();
  }, [index]);
  useEffect(() => {
    const observer = new ResizeObserver(look); // rows above the current one may have got their height only now
    observer.observe(list.current!);
    return () => observer.disconnect();
  }, []);
  const touched = () => void (scrolled.current = true);
  return (
    <div class="events" ref={box} tabIndex={0} role="region" aria-label="Events" onWheel={touched} onTouchMove={touched}>
      <div ref={list}>
        {Array.from({ length: Math.ceil(film.length / BLOCK) }, (_, at) => (
          <Block key={at} {...showing} box={box} from={at * BLOCK} current={Math.floor(index / BLOCK) === at ? index : null} />
        ))}
      </div>
    </div>
  );
}

interface BlockProps extends Showing {
  box: { current: HTMLElement | null };
  from: number;
  /** The row of the current frame, if it is in this block. */
  current: number | null;
}

/** Rendered while it is near the visible part; else it is as high as it was. */
function Block({ film, playback, digest, inWords, box, from, current }: BlockProps) {
  const place = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(false);
  const to = Math.min(film.length, from + BLOCK);
  const height = useRef(ROW * (to - from));
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      const last = entries.at(-1)!;
      if (!last.isIntersecting && last.boundingClientRect.height) height.current = last.boundingClientRect.height;
      setNear(last.isIntersecting);
    }, { root: box.current, rootMargin: '300px' });
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, []);
  const shown = near || current !== null;
  return (
    <div ref={place} style={shown ? undefined : { height: `${height.current}px` }}>
      {shown && (
        <ol start={from + 1}>
          {Array.from({ length: to - from }, (_, row) => from + row).map((at) => (
            <li key={at}>
              <button type="button" class={`event event-${digest.events[at]?.event.replace(' ', '-') ?? 'snapshot'}`} aria-current={at === current ? 'step' : undefined} onClick={() => playback.seek(at)}>
                <span class="event-step">{stepOf(digest, at)}</span>
                <span class="event-words">{inWords(at)}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

/** Scroll the list, and nothing else, so that the current row is in it. */
function reveal(box: HTMLElement): void {
  const row = box.querySelector('[aria-current]');
  if (!row) return;
  const [around, { top, bottom }] = [box.getBoundingClientRect(), row.getBoundingClientRect()];
  if (top < around.top || bottom > around.bottom) box.scrollTop += top - around.top - (around.height - (bottom - top)) / 2;
}
