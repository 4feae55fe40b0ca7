/** Feed: the running matches that small boards show, all over one connection (docs/watching.md, "Many matches at once"). */
import { later } from '../api/use';
import type { News, Snapshot } from './live-film';
import { delayBefore } from './stream';

/** A match is over, or does not run. */
interface End {
  match: string;
  end: true;
}

export type FeedMessage = Snapshot | News | End;
type Tell = (messages: FeedMessage[]) => void;

/** As the server has it. */
const MOST_MATCHES = 100;
/** Milliseconds for which changes of the shown boards are collected before the server is told. */
const REST = 50;

export class Feed {
  readonly #watched = new Map<string, Set<Tell>>();
  #waiting = new Map<string, FeedMessage[]>();
  /** By match, the message with its seats and the last one, for boards that begin to show it while others do. */
  readonly #newest = new Map<string, FeedMessage[]>();
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempts = 0;
  /** The connection is lost, and it is too early for the next attempt. */
  #resting = false;
  readonly #stopping = new AbortController().signal;

  constructor(private readonly url: () => string) {}

  /** Subscribe to a match; the returned function unsubscribes. Messages come at most once per animation frame. */
  watch(match: string, tell: Tell): () => void {
    const tellers = this.#watched.get(match) ?? new Set();
    this.#watched.set(match, tellers.add(tell));
    const newest = this.#newest.get(match);
    if (newest) tell(newest);
    this.#later(REST);
    return () => {
      tellers.delete(tell);
      if (tellers.size === 0 && this.#watched.get(match) === tellers) this.#watched.delete(match);
      this.#later(REST);
    };
  }

  #later(delay: number): void {
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#sync(), delay);
  }

  #sync(): void {
    this.#timer = undefined;
    for (const match of this.#newest.keys()) if (!this.#watched.has(match)) this.#newest.delete(match);
    if (this.#watched.size === 0) {
      this.#socket?.close();
      this.#socket = null;
    } else if (!this.#socket && !this.#resting) this.#connect();
    else if (this.#socket?.readyState === WebSocket.OPEN) this.#wish(this.#socket);
  }

  #wish(socket: WebSocket): void {
    socket.send(JSON.stringify({ watch: [...this.#watched.keys()].slice(0, MOST_MATCHES) }));
  }

  #connect(): void {
    const socket = (this.#socket = new WebSocket(this.url()));
    socket.onopen = () => this.#wish(socket);
    socket.onmessage = ({ data }) => this.#take(JSON.parse(String(data)) as FeedMessage | { error: string });
    socket.onclose = () => {
      if (socket !== this.#socket) return;
      this.#socket = null;
      this.#resting = true;
      later(delayBefore(++this.#attempts, Math.random()), () => this.#rested(), this.#stopping);
    };
  }

  #rested(): void {
    this.#resting = false;
    this.#later(0);
  }

  #take(message: FeedMessage | { error: string }): void {
    if ('error' in message) return;
    this.#attempts = 0;
    const first = 'snapshot' in message || ('event' in message && message.event.event === 'began');
    this.#newest.set(message.match, first ? [message] : [...(this.#newest.get(message.match) ?? []).slice(0, 1), message]);
    if (this.#waiting.size === 0) requestAnimationFrame(() => this.#tell());
    this.#waiting.set(message.match, [...(this.#waiting.get(message.match) ?? []).slice(-3), message]);
  }

  #tell(): void {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [match, messages] of waiting) for (const tell of this.#watched.get(match) ?? []) tell(messages);
  }
}

/** The feed of all small boards of the page. */
export const feed = new Feed(() => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/watch/`);
