import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Player, playUrl, type Surroundings, type WireEvents } from '../src/api/player';
import { boardsWon, clockWords, heard, loginOf, outcomeFor, ownPlayer, ownTurn, sentence, START, type PlayMessage, type PlayState, type PlayWish } from '../src/api/player-state';
import { opponentWords, rematchPath, wishOf, wishPath } from '../src/api/wish';
import { soundOf } from '../src/parts/sounds';
import type { MatchEvent, Result } from '../src/replay/film';
import type { Renderer } from '../src/renderers/renderer';
import { Digest } from '../src/viewer/digest';

const WISH: PlayWish = { game: 'noughts-and-crosses', pace: 'slow', players: 2, options: {}, opponent: 'house:perfect', invite: null };
const GUEST = { name: 'eve', secret: 's3cret' };
const SNAPSHOT: PlayMessage = {
  match: 'm1', game: 'noughts-and-crosses', players: ['eve', 'bob'], contest: null, started: 5, snapshot: true, t: 0, bots: ['eve', 'bob'],
  view: { you: 0, toMove: [0] },
};
const RESULT: Result = { places: [1, 2], scores: [1, 0], causes: ['complete', 'complete'], boards: [] };
const news = (event: MatchEvent, more: object = {}, toMove = [0]): PlayMessage => ({ match: 'm1', t: 10, event, view: { you: 0, toMove }, ...more });
const BEGAN = news({ event: 'began', board: 0, order: [0, 1] }, { timeLeft: 300_000, legal: [1, 2] });

function after(...messages: PlayMessage[]): PlayState {
  return messages.reduce((state, message) => heard(state, message, 1000), START);
}

/** A server and a clock of one's own. */
class Stage implements Surroundings {
  sent: unknown[] = [];
  wires: WireEvents[] = [];
  timers: { at: number; act: () => void }[] = [];
  time = 0;

  connect(told: WireEvents) {
    this.wires.push(told);
    return { send: (text: string) => void this.sent.push(JSON.parse(text)), close: () => undefined };
  }

  now = () => this.time;
  chance = () => 0.5;

  later(act: () => void, milliseconds: number) {
    const timer = { at: this.time + milliseconds, act };
    this.timers.push(timer);
    return () => void (this.timers = this.timers.filter((one) => one !== timer));
  }

  pass(milliseconds: number): void {
    this.time += milliseconds;
    for (const timer of this.timers.filter(({ at }) => at <= this.time)) {
      this.timers = this.timers.filter((one) => one !== timer);
      timer.act();
    }
  }

  say(...messages: unknown[]): void {
    for (const message of messages) this.wires.at(-1)!.received(JSON.stringify(message));
  }

  open(...messages: unknown[]): void {
    this.wires.at(-1)!.opened();
    this.say(...messages);
  }
}

function playing(): { stage: Stage; player: Player } {
  const stage = new Stage();
  const player = new Player(WISH, GUEST, null, stage);
  stage.open({ authentication: 'OK' }, SNAPSHOT, BEGAN);
  return { stage, player };
}

test('a login says what is wished for, and on the way back only for which match', () => {
  assert.deepEqual(loginOf(WISH, GUEST, null), {
    gameType: 'NOUGHTS_AND_CROSSES', name: 'eve', guest: true, secret: 's3cret', pace: 'slow', players: 2, options: {}, features: ['frames'],
    opponent: 'house:perfect',
  });
  const back = loginOf(WISH, GUEST, 'm1');
  assert.deepEqual([back['match'], 'opponent' in back], ['m1', false]);
  assert.equal(loginOf({ ...WISH, opponent: null, invite: 'moon' }, GUEST, null)['invite'], 'moon');
});

test('a player waits, is seated, and is to move', () => {
  assert.equal(after({ authentication: 'OK' }).phase, 'waiting');
  const state = after({ authentication: 'OK' }, SNAPSHOT, BEGAN);
  assert.deepEqual([state.phase, state.match, state.legal, state.ends, ownPlayer(state), ownTurn(state)], ['playing', 'm1', [1, 2], 301_000, 0, true]);
  assert.equal(ownTurn(after(SNAPSHOT, news({ event: 'played', step: 0, moves: {} }, {}, [1]))), false);
  assert.deepEqual([ownPlayer(START), ownTurn(START)], [null, false]);
});

test('a refused move is told in words and is no frame of the film', () => {
  const before = after(SNAPSHOT, BEGAN);
  const length = before.film!.length;
  const refused = heard(before, news({ event: 'refused', player: 0, why: 'space [0, 0] is taken', move: {}, strikes: 0 }, { legal: [2] }), 5);
  assert.deepEqual([refused.notice, refused.film!.length, refused.legal], ['That move is not possible: space [0, 0] is taken.', length, [2]]);
  assert.equal(heard(before, news({ event: 'late', player: 0, by: 7 }), 5).notice, 'Your move came too late.');
});

test('others that leave and come back are mentioned, the player itself is not', () => {
  const left = heard(after(SNAPSHOT, BEGAN), news({ event: 'left', player: 1 }), 5);
  assert.match(left.notice, /^bob has lost the connection/);
  assert.equal(heard(left, news({ event: 'returned', player: 1 }), 6).notice, 'bob is back.');
  assert.equal(heard(left, news({ event: 'returned', player: 0 }), 6).notice, '');
  assert.equal(heard(left, news({ event: 'played', step: 0, moves: {} }), 6).notice, '');
});

test('the end has a result and no moves', () => {
  const over = after(SNAPSHOT, BEGAN, news({ event: 'ended', result: RESULT }));
  assert.deepEqual([over.phase, over.result?.places, over.legal, over.ends], ['over', [1, 2], undefined, null]);
});

const BOARD_ENDED = news({ event: 'board ended', board: 0, result: { places: [1, 2], scores: [1, 0], causes: ['complete', 'complete'] } });

test('a board that is over stays until the person goes on, with the score of boards', () => {
  const between = after(SNAPSHOT, BEGAN, BOARD_ENDED, news({ event: 'began', board: 1, order: [1, 0] }), news({ event: 'played', step: 9, moves: {} }));
  assert.deepEqual([between.film!.event(between.held!)?.event, boardsWon(between.film!)], ['board ended', [1, 0]]);
  assert.equal(heard(between, SNAPSHOT, 1).held, null);
  const over = after(SNAPSHOT, BEGAN, BOARD_ENDED, news({ event: 'ended', result: RESULT }));
  assert.deepEqual([over.held, boardsWon(over.film!), boardsWon(after(SNAPSHOT, BEGAN).film!)], [null, null, null]);
  const { stage, player } = playing();
  stage.say(BOARD_ENDED);
  assert.equal(player.state.value.held, null, 'the match may end with this board');
  stage.say(news({ event: 'began', board: 1, order: [1, 0] }));
  assert.notEqual(player.state.value.held, null);
  player.goOn();
  assert.equal(player.state.value.held, null);
});

test('a draw of a board counts half for each', () => {
  const drawn = news({ event: 'board ended', board: 0, result: { places: [1, 1], scores: [0, 0], causes: ['complete', 'complete'] } });
  assert.deepEqual(boardsWon(after(SNAPSHOT, BEGAN, drawn).film!), [0.5, 0.5]);
});

test('a move, a capture and an end sound, and the loudest of several is heard', () => {
  const renderer = { marks: (view: { taken?: boolean }) => (view.taken ? [{ kind: 'capture', words: 'a capture' }] : []) } as unknown as Renderer;
  const step = (step: number, more: object = {}): PlayMessage => ({ match: 'm1', t: 10, event: { event: 'played', step, moves: {} }, view: { you: 0, toMove: [0], ...more } });
  const sounds = (...messages: PlayMessage[]) => {
    const digest = new Digest(after(SNAPSHOT, BEGAN, ...messages).film!, renderer);
    digest.read();
    return soundOf(digest, 1);
  };
  assert.deepEqual([sounds(), sounds(step(0)), sounds(step(0, { taken: true }), step(1))], [null, 'move', 'capture']);
  assert.equal(sounds(step(0, { taken: true }), news({ event: 'ended', result: RESULT })), 'end');
});

test('a rematch is with the same people: by their word, or by one that only they are told', () => {
  const wish = { ...WISH, opponent: null };
  assert.deepEqual([rematchPath(wish, 'm1', 1), rematchPath({ ...wish, invite: 'moon' }, 'm1', 1)], ['/matches/m1/seats/1/rematch', null]);
});

test('the result is told from the side of the player', () => {
  assert.deepEqual([outcomeFor(RESULT, 0), outcomeFor(RESULT, 1)], ['You win.', 'You lose.']);
  assert.equal(outcomeFor({ ...RESULT, places: [1, 1] }, 1), 'A draw.');
  assert.equal(outcomeFor({ ...RESULT, places: [2, 1, 3] }, 2), 'You come in at place 3 of 3.');
  assert.equal(outcomeFor({ ...RESULT, causes: ['aborted', 'aborted'] }, 0), 'The match was aborted.');
});

test('what went wrong is told in sentences, and by kind', () => {
  const kinds = ['ada is a registered bot; choose another name', 'you have logged in again from another window', 'you have no seat in a running match m', 'no opponent came', 'the other player does not want to play'];
  assert.deepEqual(kinds.map((error) => after({ error }).failure?.kind), ['name', 'elsewhere', 'gone', 'other', 'declined']);
  assert.deepEqual(after({ authentication: 'failed', why: 'a name must not be empty' }).failure, { kind: 'name', words: 'A name must not be empty.' });
  assert.equal(after({ authentication: 'failed' }).failure?.words, 'The server refuses the login; perhaps it does not have this game.');
  const told = after(SNAPSHOT, { error: 'send {"move": ...}' });
  assert.deepEqual([told.phase, told.notice], ['playing', 'Send {"move": ...}.']);
  assert.equal(sentence('done!'), 'Done!');
});

test('a move is sent once it can be', () => {
  const { stage, player } = playing();
  player.move({ x: 1 });
  assert.deepEqual([stage.sent.at(-1), player.state.value.sent], [{ move: { x: 1 } }, true]);
  player.resign();
  assert.deepEqual(stage.sent.at(-1), { resign: true });
});

test('a lost connection is made again, with a pause that grows, and leads back to the match', () => {
  const { stage, player } = playing();
  stage.wires.at(-1)!.closed(1006);
  assert.deepEqual(player.state.value.lost, { words: 'The connection was lost.', delay: 500 });
  stage.pass(500);
  stage.wires.at(-1)!.closed(1006);
  assert.deepEqual(player.state.value.lost, { words: 'The server cannot be reached, or it is full.', delay: 1000 });
  player.now();
  stage.open({ authentication: 'OK' }, { ...SNAPSHOT, t: 20 }, { ...BEGAN, event: { event: 'returned', player: 0 } });
  assert.equal((stage.sent.at(-1) as { match: string }).match, 'm1');
  assert.deepEqual([player.state.value.phase, player.state.value.lost, player.state.value.legal], ['playing', null, [1, 2]]);
});

test('a seat that is still taken is tried again, and given up in the end', () => {
  const { stage, player } = playing();
  stage.wires.at(-1)!.closed(1006);
  for (let attempt = 0; attempt < 4; attempt++) {
    player.now();
    stage.open({ authentication: 'OK' }, { error: 'there is no coming back to match m1' });
    stage.wires.at(-1)!.closed(1000);
  }
  assert.deepEqual([player.state.value.phase, player.state.value.failure?.kind], ['failed', 'taken']);
  assert.equal(stage.timers.length, 0);
});

test('a silent connection counts as lost', () => {
  const { stage, player } = playing();
  stage.pass(10_000);
  assert.deepEqual(stage.sent.at(-1), { ping: 1 });
  stage.say({ pong: 1 });
  for (let times = 0; times < 3; times++) stage.pass(10_000);
  assert.equal(player.state.value.lost?.words, 'The connection is silent.');
});

test('after the end, a failure or a stop nothing is tried again', () => {
  const { stage, player } = playing();
  stage.say(news({ event: 'ended', result: RESULT }));
  stage.wires.at(-1)!.closed(1000);
  player.now();
  assert.deepEqual([stage.timers.length, stage.wires.length], [0, 1]);
  const other = playing();
  other.stage.say({ error: 'no opponent came' });
  other.stage.wires.at(-1)!.closed(1000);
  assert.equal(other.stage.timers.length, 0);
  other.player.now();
  assert.equal(other.player.state.value.phase, 'connecting');
  other.player.stop();
  assert.equal(other.stage.timers.length, 0);
});

test('the clock shows minutes, and tenths near the end', () => {
  assert.deepEqual([300_000, 65_400, 9_370, 0, -5].map(clockWords), ['5:00', '1:05', '0:09.3', '0:00.0', '0:00.0']);
});

test('a wish is an address, and back', () => {
  const wish: PlayWish = { game: 'gomoku', pace: 'stepped', players: 2, options: { size: 9 }, opponent: null, invite: 'moon' };
  const url = new URL(wishPath(wish, 'm1'), 'http://x');
  assert.deepEqual(wishOf('gomoku', url.searchParams), wish);
  assert.equal(url.searchParams.get('match'), 'm1');
  const odd = wishOf('gomoku', new URLSearchParams('pace=fast&players=-3&options=[1'));
  assert.deepEqual([odd.pace, odd.players, odd.options], ['stepped', 2, {}]);
  assert.equal(playUrl({ protocol: 'https:', host: 'h' }), 'wss://h/play');
});

test('opponents have names for people', () => {
  const names = [WISH, { ...WISH, opponent: 'ada' }, { ...WISH, opponent: null, invite: 'x' }, { ...WISH, opponent: null }].map(opponentWords);
  assert.deepEqual(names, ['the house bot perfect', 'ada', 'a friend', 'anybody']);
});
