/** MatchSource: the film of a match on the server, stored or live. */
import { signal, type Signal } from '@preact/signals';
import { ask, askText, RestError, TRY_AGAIN } from '../api/rest';
import type { MatchPlayer, MatchPlayers } from '../api/types';
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
  #following: Following | null = null;
  #stopped = false;
  #film: LiveFilm | null = null;
  #waiting: (Snapshot | News)[] = [];
  readonly #grown = signal(0);
  readonly #connection = signal<Connection>({ state: 'connecting' });

  constructor(readonly match: string) {
    void this.#load(0).then(() => this.#meet());
  }

  /** The match is shown without it. */
  async #meet(): Promise<void> {
    const { state } = this.loading.value;
    if (this.#stopped || state === 'failed') return;
    const found = await ask<MatchPlayers>(`/matches/${encodeURIComponent(this.match)}/players`).catch(() => null);
    if (found) this.players.value = found.players;
  }

  stop(): void {
    this.#stopped = true;
    this.#following?.stop();
  }

  /** Load the stored film, or follow the live match if it still runs. `after`: the attempts since the live match ended. */
  async #load(after: number): Promise<void> {
    try {
      const film = readFilm(await askText(`/matches/${encodeURIComponent(this.match)}/film`));
      if (!this.#stopped) this.loading.value = { state: 'shown', film, live: null };
    } catch (error) {
      if (!this.#stopped) this.#failed(error, after);
    }
  }

  #failed(error: unknown, after: number): void {
    const status = error instanceof RestError ? error.status : -1;
    if (after && after < ATTEMPTS) return void setTimeout(() => this.#load(after + 1), BETWEEN * after);
    const again = error instanceof RestError && error.passing;
    if (again) setTimeout(() => this.#stopped || void this.#load(after && ATTEMPTS).then(() => this.#meet()), TRY_AGAIN);
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
    if (this.#film && this.loading.value.state !== 'shown') this.loading.value = { state: 'shown', film: this.#film, live: this.#live(this.#film) };
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

