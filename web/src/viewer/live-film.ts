/** LiveFilm: a film that grows by the messages of the spectator stream. */
import type { Film, FilmHeader, Frame, MatchEvent, View } from '../replay/film';

/** The first message to a spectator, also after a reconnect. */
export interface Snapshot {
  match: string;
  game: string;
  players: string[];
  contest: string | null;
  started: number;
  /** Milliseconds for a move; null: there is no limit, or it is not known. */
  limit?: number | null;
  snapshot: true;
  t: number;
  /** The names of the players by their seats on this board. */
  bots: string[];
  view: View;
}

/** An event, with the position after it. */
export interface News {
  match: string;
  t: number;
  event: MatchEvent;
  view: View;
}

export interface Refusal {
  error: string;
}

export type Message = Snapshot | News | Refusal;

export class LiveFilm implements Film {
  over = false;
  /** The time of the last message, by the clock of this page. */
  heard = 0;
  #frames: Frame[] = [];

  constructor(public header: FilmHeader) {}

  get length(): number {
    return this.#frames.length;
  }

  frame(index: number): Frame {
    const frame = this.#frames[index];
    if (!frame) throw new RangeError(`there is no frame ${index}: the film has ${this.length}`);
    return frame;
  }

  event(index: number): MatchEvent | null {
    return this.#frames[index]?.event ?? null;
  }

  add(message: Snapshot | News, now: number): void {
    this.heard = now;
    if ('snapshot' in message) this.#join(message);
    else this.#go(message);
  }

  /** Whether this is the start of a match that was over: it is shown again from its start. */
  isBefore({ t }: Snapshot): boolean {
    return t < (this.#frames.at(-1)?.t ?? 0);
  }

  #join({ t, view, bots }: Snapshot): void {
    if (t === this.#frames.at(-1)?.t) return;
    this.#frames.push({ t, event: null, view, order: seatOrder(this.header.players.map(({ name }) => name), bots) });
  }

  #go({ t, event, view }: News): void {
    const last = this.#frames.at(-1);
    if (event.event === 'began' && last?.event === null && last.t === t) this.#frames.pop(); // its snapshot shows no more
    const order = event.event === 'began' ? event.order : (last?.order ?? this.header.players.map((_, player) => player));
    this.#frames.push({ t, event, view, order });
    if (event.event === 'ended') this.over = true;
  }
}

/** The part of the header that a spectator gets. */
export function headerOf({ match, game, players, contest, started, limit = null }: Snapshot): FilmHeader {
  return { match, game, players: players.map((name) => ({ name })), contest, started, options: {}, limit };
}

/** The numbers of the players by seat, from their names. Players with the same name keep their order. */
export function seatOrder(players: readonly string[], bots: readonly string[]): number[] {
  const free = players.map((name, player) => ({ name, player }));
  return bots.map((name) => {
    const at = free.findIndex((one) => one.name === name);
    return at < 0 ? 0 : free.splice(at, 1)[0]!.player;
  });
}
