/** Stream: the spectator's connection to a match. It reconnects when it is lost. */
import { later } from '../api/use';
import type { Message, News, Snapshot } from './live-film';

export type Connection =
  | { state: 'connecting' }
  | { state: 'live' }
  /** `delay`: milliseconds until the next attempt. */
  | { state: 'lost'; words: string; delay: number }
  | { state: 'over' }
  | { state: 'refused'; words: string };

const OVER = 1000;
const NOTHING_TO_SEE = 4404;
const TOO_SLOW = 1008;
/** A match that has just ended may be neither live nor stored for a moment. */
const SECOND_CHANCES = 2;
const FIRST_DELAY = 500;
/** With the chance: 5 s. */
const LONGEST_DELAY = 4000;

/** Milliseconds to wait before attempt number 1, 2, ...; `chance`, from 0 to 1, spreads the attempts of many spectators. */
export function delayBefore(attempt: number, chance: number): number {
  return Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempt - 1)) * (0.75 + chance / 2);
}

/** The address of a match's stream. */
export function streamUrl(match: string, at: { protocol: string; host: string } = location): string {
  return `${at.protocol === 'https:' ? 'wss' : 'ws'}://${at.host}/watch/${encodeURIComponent(match)}`;
}

interface Told {
  news: (message: Snapshot | News) => void;
  connection: (connection: Connection) => void;
}

/** Follows a match until it is over or `stop` is called. */
export class Following {
  #socket: WebSocket | null = null;
  /** Ends the wait for the next attempt. */
  #wait = new AbortController();
  #waits = false;
  #attempts = 0;
  #refusal: string | null = null;
  #refusals = 0;

  constructor(
    private readonly url: string,
    private readonly told: Told,
  ) {
    addEventListener('online', this.retry);
    this.#connect();
  }

  stop = (): void => {
    this.#waits = false;
    removeEventListener('online', this.retry);
    this.#wait.abort();
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  };

  /** Retry at once: the network is back, or the user asks for it. */
  retry = (): void => {
    if (this.#waits) this.#connect();
  };

  #connect(): void {
    this.#wait.abort();
    this.#waits = false;
    this.told.connection({ state: 'connecting' });
    const socket = (this.#socket = new WebSocket(this.url));
    socket.onmessage = ({ data }) => socket === this.#socket && this.#take(JSON.parse(String(data)) as Message);
    socket.onclose = ({ code }) => socket === this.#socket && this.#closed(code);
  }

  #take(message: Message): void {
    if ('error' in message) return void (this.#refusal = message.error);
    if ('snapshot' in message) {
      this.#attempts = this.#refusals = 0;
      this.told.connection({ state: 'live' });
    }
    this.told.news(message);
  }

  #closed(code: number): void {
    this.#socket = null;
    if (code === OVER) return this.told.connection({ state: 'over' });
    if (code === NOTHING_TO_SEE && ++this.#refusals > SECOND_CHANCES) {
      return this.told.connection({ state: 'refused', words: this.#refusal ?? 'There is nothing to see of this match.' });
    }
    const delay = code === TOO_SLOW ? 0 : delayBefore(++this.#attempts, Math.random());
    this.#waits = true;
    this.told.connection({ state: 'lost', words: this.#words(code), delay });
    this.#wait = new AbortController();
    later(delay, () => this.#connect(), this.#wait.signal);
  }

  #words(code: number): string {
    if (code === TOO_SLOW) return 'This page could not keep up with the match.';
    if (this.#attempts > 2) return 'The server does not answer, or has no room for another spectator.';
    return 'The connection to the server was lost.';
  }
}
