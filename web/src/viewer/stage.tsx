/** The stage: the board at the current frame, and its touch gestures. */
import { useMemo, useRef } from 'preact/hooks';
import type { Film, Frame, View } from '../replay/film';
import type { Seat } from '../renderers/renderer';
import type { Playback } from './playback';
import type { Showing } from './showing';

/** The least distance of a swipe, in pixels. */
const SWIPE = 40;
const TAP = 8;
/** Elements that handle touch themselves. */
const BUSY = 'canvas, button, input, select, a, summary, [role=grid], [role=application]';

export function Stage({ film, digest, renderer, playback }: Showing) {
  const index = Math.min(playback.index.value, film.length - 1);
  const frame = film.frame(index);
  const seats = useSeats(film, frame);
  const end = digest.endOf(index);
  const final = useMemo(() => (end === null ? null : film.frame(end).view), [film, end]);
  const gestures = useGestures(playback);
  return (
    <div class="stage" style={{ '--step-time': `${playback.stepTime.value}ms` }} {...gestures}>
      <renderer.Board view={frame.view} before={viewBefore(film, index, frame)} event={frame.event} seats={seats} final={final} crosses={digest.crosses(index)} small={false} />
    </div>
  );
}

/** The seats of a frame; the same list object while they do not change. */
export function useSeats(film: Film, { order }: Frame): readonly Seat[] {
  const { players } = film.header;
  return useMemo(() => order.map((player) => ({ player, name: players[player]?.name ?? '' })), [players, order.join()]);
}

/** The position one frame earlier, on the same board. */
function viewBefore(film: Film, index: number, frame: Frame): View | null {
  return index > 0 && frame.event?.event !== 'began' ? film.frame(index - 1).view : null;
}

/** A swipe steps, a tap plays or pauses. */
function useGestures(playback: Playback) {
  const from = useRef<{ x: number; y: number } | null>(null);
  return {
    onPointerDown: (event: PointerEvent) => {
      const busy = event.target instanceof Element && event.target.closest(BUSY);
      from.current = event.pointerType === 'touch' && event.isPrimary && !busy ? { x: event.clientX, y: event.clientY } : null;
    },
    onPointerUp: (event: PointerEvent) => {
      if (!from.current) return;
      const [across, along] = [event.clientX - from.current.x, event.clientY - from.current.y];
      from.current = null;
      if (Math.abs(across) > SWIPE && Math.abs(across) > 2 * Math.abs(along)) playback.step(across < 0 ? 1 : -1);
      else if (Math.hypot(across, along) < TAP) playback.toggle();
    },
    onPointerCancel: () => void (from.current = null),
  };
}
