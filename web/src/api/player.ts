/** Player: the connection of a person that plays. It reconnects when it is lost, and returns to the seat. */
import { signal, type ReadonlySignal } from '@preact/signals';
import { delayBefore } from '../viewer/stream';
import { heard, loginOf, START, type GuestAccount, type PlayMessage, type PlayState, type PlayWish } from './player-state';

/** Milliseconds between two pings; a connection on which nothing comes for twice as long is lost. */
const PING = 10_000;
/** A seat may still be taken for a moment by the connection that was lost. */
const SECOND_CHANCES = 3;

/** The part of a WebSocket that is used here. */
export interface Wire {
  send(text: string): void;
  close(): void;
}

export interface WireEvents {
  opened(): unknown;
  received(text: string): unknown;
  closed(code: number): unknown;
}

/** The part of the browser that is used here; tests replace it. */
export interface Surroundings {
  connect(told: WireEvents): Wire;
  now(): number;
  later(act: () => void, milliseconds: number): () => void;
  chance(): number;
}

export class Player {
  readonly #state = signal<PlayState>(START);
  readonly state: ReadonlySignal<PlayState> = this.#state;
  #wire: Wire | null = null;
  #attempts = 0;
  #refusals = 0;
  #opened = false;
  #heard = 0;
  #cancel: (() => void)[] = [];

  /** `match`: one to come back to. */
  constructor(
    private readonly wish: PlayWish,
    private readonly guest: GuestAccount,
    match: string | null,
    private readonly around: Surroundings,
  ) {
    if (match !== null) this.#state.value = { ...START, match };
    this.#connect();
  }

  move = (raw: unknown): void => {
    if (this.#wire === null) return;
    this.#state.value = { ...this.state.value, sent: true, notice: '' };
    this.#send({ move: raw });
  };

  /** Show the next board. */
  goOn = (): void => void (this.#state.value = { ...this.state.value, held: null });

  resign(): void {
    this.#send({ resign: true });
  }

  /** Disconnect. The server keeps the seat for a while. */
  stop(): void {
    this.#rest();
    const wire = this.#wire;
    this.#wire = null;
    wire?.close();
  }

  /** Connect at once: the network is back, or the person does not want to wait. */
  now = (): void => {
    const { phase } = this.state.value;
    if (this.#wire === null && phase !== 'over') this.#connect();
  };

  #connect(): void {
    this.#rest();
    const { phase, match } = this.state.value;
    if (phase === 'failed') this.#state.value = { ...START, match };
    this.#opened = false;
    const wire: Wire = (this.#wire = this.around.connect({
      opened: () => wire === this.#wire && this.#login(),
      received: (text) => wire === this.#wire && this.#take(JSON.parse(text) as PlayMessage),
      closed: (code) => wire === this.#wire && this.#closed(code),
    }));
  }

  #login(): void {
    this.#opened = true;
    this.#heard = this.around.now();
    this.#send(loginOf(this.wish, this.guest, this.state.value.match));
    this.#keepAlive();
  }

  #keepAlive(): void {
    this.#cancel.push(
      this.around.later(() => {
        if (this.around.now() - this.#heard > 2 * PING) return this.#drop();
        this.#send({ ping: 1 });
        this.#keepAlive();
      }, PING),
    );
  }

  /** The connection is dead, though the browser has not noticed. */
  #drop(): void {
    const wire = this.#wire;
    this.#wire = null;
    wire?.close();
    this.#lose('The connection is silent.');
  }

  #take(message: PlayMessage): void {
    this.#heard = this.around.now();
    this.#state.value = heard(this.state.value, message, this.#heard);
    if ('snapshot' in message) this.#attempts = this.#refusals = 0;
  }

  #closed(code: number): void {
    this.#wire = null;
    this.#rest();
    const { phase, failure } = this.state.value;
    if (phase === 'over') return;
    if (failure?.kind === 'taken' && this.#refusals++ < SECOND_CHANCES) {
      this.#state.value = { ...this.state.value, failure: null, phase: 'connecting' };
    } else if (phase === 'failed') return;
    this.#lose(wordsFor(code, this.#opened));
  }

  #lose(words: string): void {
    this.#rest();
    const delay = delayBefore(++this.#attempts, this.around.chance());
    this.#state.value = { ...this.state.value, lost: { words, delay }, sent: false };
    this.#cancel.push(this.around.later(this.now, delay));
  }

  #send(message: unknown): void {
    if (this.#opened) this.#wire?.send(JSON.stringify(message));
  }

  #rest(): void {
    for (const cancel of this.#cancel.splice(0)) cancel();
  }
}

function wordsFor(code: number, opened: boolean): string {
  if (!opened) return 'The server cannot be reached, or it is full.';
  return code === 1001 ? 'The server is stopping.' : 'The connection was lost.';
}

/** The browser's own. */
export function browser(url: string): Surroundings {
  return {
    connect: (told) => {
      const socket = new WebSocket(url);
      socket.onopen = () => told.opened();
      socket.onmessage = ({ data }) => told.received(String(data));
      socket.onclose = ({ code }) => told.closed(code);
      return socket;
    },
    now: () => performance.now(),
    later: (act, milliseconds) => {
      const timer = setTimeout(act, milliseconds);
      return () => clearTimeout(timer);
    },
    chance: Math.random,
  };
}

export function playUrl(at: { protocol: string; host: string } = location): string {
  return `${at.protocol === 'https:' ? 'wss' : 'ws'}://${at.host}/play`;
}
