/** The answers of the REST interface. Made by `python -m tools.web_types` from the server's types. */

export interface Address {
  /** Where the server calls the bot; null: it connects by itself. */
  url: string | null;
}

export interface Amended {
  event: "amended";
  options: Record<string, unknown>;
}

export interface Began {
  event: "began";
  board: number;
  order: number[];
}

export interface BoardEnded {
  event: "board ended";
  board: number;
  result: BoardResult;
}

export interface BoardResult {
  scores: number[];
  places: number[];
  causes: ("aborted" | "complete" | "crash" | "disconnect" | "expelled" | "flood" | "illegal moves" | "timeout" | "unreadable")[];
}

export interface Bot {
  name: string;
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  owner: string;
  /** A moment in UTC, as in ISO 8601. */
  registered: string;
  /** Whether it has an address at which the server calls it. */
  called: boolean;
}

export interface Bots {
  bots: Bot[];
  total: number;
  limit: number;
  offset: number;
}

export interface Contest {
  name: string;
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  /** How many have ended. */
  matches: number;
  rankings: Rank[];
}

export interface Contests {
  contests: string[];
  total: number;
  limit: number;
  offset: number;
}

export interface DuelPlayer {
  name: string;
  online: boolean;
  /** Elo, from 1200 on, 30 points at stake on each board. */
  rating: number;
  /** Boards won. */
  score: number;
  /** Boards that it was there to lose. */
  losses: number;
  draws: number;
  /** Boards played to their end. */
  boards: number;
  /** Boards lost by an illegal move, out of time or by going away. */
  invalid: number;
  /** Online. */
  seconds: number;
}

export interface DuelPlayers {
  players: DuelPlayer[];
  total: number;
  limit: number;
  offset: number;
}

export interface DuelProfile {
  player: DuelPlayer;
  /** The last hundred, the latest first. */
  boards: PlayerBoard[];
}

export interface Ended {
  event: "ended";
  result: Result;
}

export interface Entrant {
  /** The name of a bot that the server can call. */
  bot: string;
}

export interface Entry {
  contest: string;
  bot: string;
  entered: boolean;
}

export interface Error {
  error: string;
}

export interface FilmFrame {
  t: number;
  event: Began | Played | Refused | Late | Out | Left | Returned | Amended | BoardEnded | Ended;
  view?: Record<string, unknown>;
  change?: Record<string, unknown>;
}

export interface FilmHeader {
  film: number;
  match: string | null;
  game: string;
  players: FilmPlayer[];
  contest: string | null;
  started: number | null;
  options: Record<string, unknown>;
  terms: Terms;
  result: Result | null;
}

export interface FilmPlayer {
  name: string;
  owner?: string;
  rating?: number;
  protocol?: string;
}

export interface Game {
  /** A game. */
  name: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  /** How many may play: the least and the most. */
  players: number[];
  options: GameOption[];
  terms: Terms;
  /** Bots of the house that play it. */
  house: string[];
}

export interface GameOption {
  name: string;
  description: string;
  default: unknown;
}

export interface Games {
  games: Game[];
}

export interface Late {
  event: "late";
  player: number;
  by: number;
}

export interface Left {
  event: "left";
  player: number;
}

export interface Live {
  tables: Table[];
  total: number;
}

export interface Match {
  id: string;
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  players: string[];
  contest: string | null;
  /** running, ended or aborted. */
  status: string;
  /** A moment in UTC, as in ISO 8601. */
  started: string;
  ended: string | null;
  result: Outcome | null;
  seats: Seat[];
}

export interface MatchInFull {
  id: string;
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  players: string[];
  contest: string | null;
  /** running, ended or aborted. */
  status: string;
  /** A moment in UTC, as in ISO 8601. */
  started: string;
  ended: string | null;
  result: Outcome | null;
  seats: Seat[];
  options: Record<string, unknown>;
  /** Why it was aborted. */
  reason: string | null;
  /** The public view of the present or last position. */
  view: Record<string, unknown> | null;
}

export interface Matches {
  matches: Match[];
  total: number;
  limit: number;
  offset: number;
}

export interface NewBot {
  /** A game. */
  game: string;
  name: string;
  owner: string;
  /** Where the server calls it; the bot must repeat a challenge there. */
  url: string | null;
}

export interface Out {
  event: "out";
  player: number;
  cause: "aborted" | "complete" | "crash" | "disconnect" | "expelled" | "flood" | "illegal moves" | "timeout" | "unreadable";
  detail: string;
}

export interface Outcome {
  /** null: a draw. */
  victor: string | null;
  reason: string;
}

export interface Pace {
  limit: number | null;
  grace: number;
  first: number | null;
  beat: boolean;
  pause: number;
}

export interface Played {
  event: "played";
  step: number;
  moves: Record<string, unknown>;
}

export interface PlayerBoard {
  id: number;
  match: string;
  /** Who began. */
  crosses: string;
  circles: string;
  /** Of both, when it began. */
  ratings: number[];
  /** A moment in UTC, as in ISO 8601. */
  started: string;
  /** A moment in UTC, as in ISO 8601. */
  ended: string;
  moves: number;
  /** null: a draw. */
  winner: string | null;
}

export interface Rank {
  bot: string;
  wins: number;
  draws: number;
  losses: number;
  played: number;
  score: number;
}

export interface Refused {
  event: "refused";
  player: number;
  why: string;
  move: unknown;
  strikes: number;
}

export interface RegisteredBot {
  bot: Bot;
  /** The bot's token. It is shown this once. */
  password: string;
}

export interface Result {
  places: number[];
  scores: number[];
  causes: ("aborted" | "complete" | "crash" | "disconnect" | "expelled" | "flood" | "illegal moves" | "timeout" | "unreadable")[];
  boards: BoardResult[];
}

export interface Returned {
  event: "returned";
  player: number;
}

export interface Seat {
  /** From 0, in the order of the players. */
  seat: number;
  bot: string;
  /** 1 for the winner; those that tie share a place. */
  place: number | null;
  score: number | null;
  /** Why it ended for this bot. */
  cause: string | null;
}

export interface Table {
  id: string;
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  players: string[];
  contest: string | null;
  /** A moment in UTC, as in ISO 8601. */
  started: string;
  steps: number;
  spectators: number;
}

export interface Terms {
  pace: Pace;
  strikes: number | null;
  hasty: "free" | "illegal";
  late: "out" | "pass";
  patience: number | null;
  gone: "out" | "pass" | "wait";
  absence: number;
  boards: number;
}
