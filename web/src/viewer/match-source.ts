/** MatchSource: the film of a match on the server, stored or live. */
import { signal, type Signal } from '@preact/signals';
import { ask, askText, RestError, TRY_AGAIN } from '../api/rest';
import type { MatchPlayer, MatchPlayers } from '../api/types';
import { later } from '../api/use';
import type { Film } from '../replay/film';
import { readFilm } from '../replay/stored';
import { headerOf, LiveFilm, type News, type Snapshot } from './live-film';
import { Following, streamUrl, type Connection } from './stream';
import type { Live } from './viewer';

const RUNS_STILL = 409;
const NOT_THERE = 404;
/** A match that has just ended takes a moment to be stored. */
const ATTEMPTS = 4;
const BETWEEN = 400;

export type Loading =
  | { state: 'loading' }
  | { state: 'shown'; film: Film; live: Live | null }
  | { state: 'failed'; words: string; missing: boolean };

export class MatchSource {
  readonly loading: Signal<Loading> = signal({ state: 'loading' });
  /** More about the players than their names; empty until it is loaded. */
  readonly players = signal<MatchPlayer[]>([]);
  /** Why the match counts for no rating; null: it counts, or that is not loaded. */
  readonly void = signal<string | null>(null);
  #following: Following | null = null;
  readonly #stopping = new AbortController();
  #film: LiveFilm | null = null;
  #waiting: (Snapshot | News)[] = [];
  readonly #grown = signal(0);
  readonly #connection = signal<Connection>({ state: 'connecting' });

  /** `whole`: show a live match only when it is known from its start. */
  constructor(
    readonly match: string,
    private readonly whole = false,
  ) {
    void this.#load(0).then(() => this.#meet());
  }

  get #stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #path(part: string): string {
    return `/matches/${encodeURIComponent(this.match)}/${part}`;
  }

  /** The match is shown without it. */
  async #meet(): Promise<void> {
    const { state } = this.loading.value;
    if (this.#stopped || state === 'failed') return;
    const found = await ask<MatchPlayers>(this.#path('players')).catch(() => null);
    if (!found) return;
    this.players.value = found.players;
    this.void.value = found.void;
  }

  stop(): void {
    this.#stopping.abort();
    this.#following?.stop();
  }

  /** Load the stored film, or follow the live match if it still runs. `after`: the attempts since the live match ended. */
  async #load(after: number): Promise<void> {
    try {
      const film = readFilm(await askText(this.#path('film')));
      if (!this.#stopped) this.loading.value = { state: 'shown', film, live: null };
    } catch (error) {
      if (!this.#stopped) this.#failed(error, after);
    }
  }

  #failed(error: unknown, after: number): void {
    const status = error instanceof RestError ? error.status : -1;
    if (after && after < ATTEMPTS) return later(BETWEEN * after, () => void this.#load(after + 1), this.#stopping.signal);
    const again = error instanceof RestError && error.passing;
    if (again) later(TRY_AGAIN, () => void this.#load(after && ATTEMPTS).then(() => this.#meet()), this.#stopping.signal);
    if (this.#film) return; // keep the live film
    if (status === RUNS_STILL) return this.#watch();
    this.loading.value = { state: 'failed', words: error instanceof Error ? error.message : String(error), missing: status === NOT_THERE };
  }

  #watch(): void {
    if (this.#stopped) return;
    this.#following = new Following(streamUrl(this.match), {
      news: (message) => {
        this.#waiting.push(message);
        if (this.#waiting.length === 1) soon(() => this.#take());
      },
      connection: (connection) => this.#connected(connection),
    });
  }

  /** Handle all messages since the last animation frame. */
  #take(): void {
    const messages = this.#waiting.splice(0);
    const now = performance.now();
    for (const message of messages) {
      if ('snapshot' in message && this.#film?.isBefore(message)) return this.#ended();
      if ('snapshot' in message) this.#film ??= new LiveFilm(headerOf(message));
      this.#film?.add(message, now);
    }
    this.#grown.value += 1;
    if (this.loading.value.state !== 'shown' && !this.whole) this.#show(this.#film);
    if (messages.some((message) => 'snapshot' in message)) void this.#lookBack(1);
  }

  #show(film: LiveFilm | null): void {
    this.#film = film;
    if (film && !this.#stopped) this.loading.value = { state: 'shown', film, live: this.#live(film) };
  }

  /** Load what was played before the match was joined. While a board is being stored it cannot be had. */
  async #lookBack(attempt: number): Promise<void> {
    const past = await askText(this.#path('past'), { signal: this.#stopping.signal }).then(readFilm).catch(() => null);
    if (this.loading.value.state === 'shown' && !this.loading.value.live) return; // the match is over, and its whole film is here
    if (past || attempt === 1) this.#show(past ? (this.#film?.after(past) ?? null) : this.#film);
    if (!past && attempt < ATTEMPTS) later(BETWEEN * attempt, () => void this.#lookBack(attempt + 1), this.#stopping.signal);
  }

  /** The match ended while the connection was lost. */
  #ended(): void {
    this.#following?.stop();
    this.#connected({ state: 'over' });
  }

  #live(film: LiveFilm): Live {
    const time = () => film.frame(film.length - 1).t + performance.now() - film.heard;
    return { grown: this.#grown, connection: this.#connection, time, retry: () => this.#following?.retry() };
  }

  #connected(connection: Connection): void {
    this.#connection.value = connection;
    if (connection.state === 'over') void this.#load(1);
    if (connection.state === 'refused' && !this.#film) this.loading.value = { state: 'failed', words: connection.words, missing: true };
  }
}

/** Run before the next animation frame, or a little later if the page is hidden. */
function soon(act: () => void): void {
  if (document.hidden) setTimeout(act, 250);
  else requestAnimationFrame(act);
}

