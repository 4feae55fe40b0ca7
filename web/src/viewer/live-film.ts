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

  /** `past`: what was played before the first message; null: that is not known. */
  constructor(
    public header: FilmHeader,
    private readonly past: Film | null = null,
  ) {}

  get length(): number {
    return this.#before + this.#frames.length;
  }

  get #before(): number {
    return this.past?.length ?? 0;
  }

  frame(index: number): Frame {
    if (this.past && index < this.#before) return this.past.frame(index);
    const frame = this.#frames[index - this.#before];
    if (!frame) throw new RangeError(`there is no frame ${index}: the film has ${this.length}`);
    return frame;
  }

  event(index: number): MatchEvent | null {
    return index < this.#before ? (this.past?.event(index) ?? null) : (this.#frames[index - this.#before]?.event ?? null);
  }

  /** The same match from its start: `past` was played before the last snapshot, and perhaps some of what was seen since then. */
  after(past: Film): LiveFilm {
    const whole = new LiveFilm(this.header, past);
    const joined = this.#frames.findLastIndex(({ event }) => event === null);
    const news = this.#frames.slice(joined + 1);
    const known = overlap(past, news);
    const last = past.frame(past.length - 1);
    const snapshot = known || joined < 0 || sameJson(this.#frames[joined]!.view, last.view) ? [] : [this.#frames[joined]!];
    whole.#frames = [...snapshot, ...news.slice(known)];
    whole.over = this.over;
    whole.heard = this.heard;
    return whole;
  }

  add(message: Snapshot | News, now: number): void {
    this.heard = now;
    if ('snapshot' in message) this.#join(message);
    else this.#go(message);
  }

  /** Whether this is the start of a match that was over: it is shown again from its start. */
  isBefore({ t }: Snapshot): boolean {
    return t < (this.#last?.t ?? 0);
  }

  get #last(): Frame | undefined {
    return this.#frames.at(-1) ?? this.past?.frame(this.past.length - 1);
  }

  #join({ t, view, bots }: Snapshot): void {
    if (t === this.#last?.t) return;
    this.#frames.push({ t, event: null, view, order: seatOrder(this.header.players.map(({ name }) => name), bots) });
  }

  #go({ t, event, view }: News): void {
    const last = this.#last;
    if (event.event === 'began' && last?.event === null && last.t === t) this.#frames.pop(); // its snapshot shows no more
    const order = event.event === 'began' ? event.order : (last?.order ?? this.header.players.map((_, player) => player));
    this.#frames.push({ t, event, view, order });
    if (event.event === 'ended') this.over = true;
  }
}

/** How many of the first frames of `news` are the last ones of `past`. */
function overlap(past: Film, news: readonly Frame[]): number {
  for (let known = Math.min(past.length, news.length); known > 0; known -= 1) {
    const first = past.length - known;
    if (news.slice(0, known).every(({ event }, at) => sameJson(event, past.event(first + at)))) return known;
  }
  return 0;
}

function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
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
