/** SmallPosition: a running match as a small board shows it. */
import type { Film, MatchEvent, Result, View } from '../replay/film';
import type { FeedMessage } from './feed';
import { seatOrder } from './live-film';

export interface SmallPosition {
  view: View;
  /** null: the position before is not known, so nothing is animated. */
  before: View | null;
  event: MatchEvent | null;
  order: readonly number[];
  step: number | null;
  /** null while the match runs. */
  result: Result | null;
}

/** The last position of a match that is over. */
export function endOf(film: Film): SmallPosition {
  const { view, event, order } = film.frame(film.length - 1);
  return { view, before: null, event, order, step: null, result: event?.event === 'ended' ? event.result : null };
}

/** The position after a message. */
export function after(position: SmallPosition | null, message: FeedMessage, players: readonly string[]): SmallPosition | null {
  if ('end' in message) return position;
  const { view } = message;
  if ('snapshot' in message) return { view, before: null, event: null, order: seatOrder(players, message.bots), step: null, result: null };
  const { event } = message;
  const step = event.event === 'played' ? event.step : (position?.step ?? null);
  const follows = event.event !== 'began' && position !== null && (event.event !== 'played' || position.step === null || step === position.step + 1);
  return {
    view,
    before: follows ? position.view : null,
    event,
    order: event.event === 'began' ? event.order : (position?.order ?? players.map((_, player) => player)),
    step,
    result: event.event === 'ended' ? event.result : null,
  };
}
