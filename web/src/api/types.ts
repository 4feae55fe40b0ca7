/** The answers of the REST interface. Made by `python -m tools.web_types` from the server's types. */

export interface Address {
  /** Where the server calls the bot; null: it connects by itself. */
  url: string | null;
}

export interface AllContests {
  contests: ContestLine[];
  total: number;
  limit: number;
  offset: number;
}

export interface Amended {
  event: "amended";
  options: Record<string, unknown>;
}

export interface AuditEntry {
  /** A moment in UTC, as in ISO 8601. */
  at: string;
  who: string;
  address: string;
  action: string;
  target: string;
  detail: string;
}

export interface AuditShown {
  entries: AuditEntry[];
  total: number;
  limit: number;
  offset: number;
}

export interface BanShown {
  kind: "address" | "name";
  subject: string;
  reason: string;
  /** A moment in UTC, as in ISO 8601. */
  made: string;
  until: string | null;
}

export interface Bank {
  time: number;
  increment: number;
  moves: number;
}

export interface BannedSubject {
  kind: "address" | "name";
  subject: string;
}

export interface BansShown {
  bans: BanShown[];
  total: number;
  limit: number;
  offset: number;
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
  causes: ("aborted" | "complete" | "crash" | "disconnect" | "expelled" | "flood" | "illegal moves" | "resigned" | "timeout" | "unreadable")[];
}

export interface BoatBlacklist {
  players: string[];
  addresses: string[];
}

export interface BoatGameShown {
  number: number;
  match: string;
  /** Of one fleet. */
  squares: number;
  players: BoatPlayer[];
}

export interface BoatOrder {
  title: string;
  /** As over /boats/host: {"do": "start"} and so on. */
  order: Record<string, unknown>;
}

export interface BoatOrderDone {
  done: string;
}

export interface BoatPlayer {
  name: string;
  address: string;
  status: string;
  toMove: boolean;
  score: number;
  skips: number;
  turns: number;
  /** On its own boats. */
  hits: number;
}

export interface BoatRoomChange {
  title: string;
  settings: Record<string, unknown>;
}

export interface BoatRoomSettings {
  title: string;
  port: number;
  width: number;
  height: number;
  boats: string;
  goal: number;
  min: number;
  max: number;
  auto_start: boolean;
  repeat: boolean;
  tables: number;
  turn_limit: number;
  absence: number;
  house_wait: number;
}

export interface BoatRoomShown {
  /** Where players join. */
  port: number | null;
  /** As in a `[[boats]]` table of the settings. */
  settings: BoatRoomSettings;
  /** The players that wait and play, as `botdrome boats host` shows them. */
  room: BoatRoomState;
}

export interface BoatRoomState {
  goal: number;
  over: boolean;
  /** Players that wait for a game; null: none can be joined. */
  gathering: BoatSailor[] | null;
  /** The number of that game. */
  gathers: number | null;
  games: BoatGameShown[];
  blacklist: BoatBlacklist;
}

export interface BoatRoomsShown {
  rooms: BoatRoomShown[];
}

export interface BoatSailor {
  name: string;
  address: string;
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
  /** Whether the server calls it at a URL. */
  called: boolean;
}

export interface BotFace {
  name: string;
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  owner: string;
  /** A moment in UTC, as in ISO 8601. */
  registered: string;
  /** Whether the server calls it at a URL. */
  called: boolean;
  rating: number | null;
  /** The lower end of the 95 % interval; null: there is none. */
  low: number | null;
  /** The upper end of the 95 % interval; null: there is none. */
  high: number | null;
  provisional: boolean;
  group: number | null;
  /** Rated matches there. */
  games: number;
  wins: number;
  draws: number;
  losses: number;
  /** When its last match began; null: it has not played. */
  seen: string | null;
  /** The protocol that it used last; null: it is unknown. */
  protocol: string | null;
  /** The programming language that its owner has named; null: none. */
  language: string | null;
}

export interface Bots {
  bots: BotFace[];
  total: number;
  limit: number;
  offset: number;
}

export interface BracketPlace {
  side: "final" | "losers" | "winners";
  slot: number;
  slots: number;
}

export interface CheckDone {
  accepted: boolean;
  report: string;
}

export interface ClassList {
  classes: CountedClass[];
  total: number;
  limit: number;
  offset: number;
}

export interface ClassMember {
  name: string;
  /** A moment in UTC, as in ISO 8601. */
  joined: string;
  bots: string[];
  /** Those of its bots that have an accepted version. */
  uploaded: string[];
}

export interface ClassPlayer {
  /** `deleted`: its owner was removed from the class. */
  bot: string;
  /** Its owner in the class; null: it has none there. */
  participant: string | null;
  place: number | null;
}

export interface ClassResult {
  id: string;
  /** A game. */
  game: string;
  /** running, ended or aborted. */
  status: string;
  /** A moment in UTC, as in ISO 8601. */
  started: string;
  ended: string | null;
  players: ClassPlayer[];
}

export interface ClassShown {
  name: string;
  /** The join code. */
  code: string;
  /** A moment in UTC, as in ISO 8601. */
  expires: string;
  /** A moment in UTC, as in ISO 8601. */
  created: string;
  /** Since when nobody can join or register bots; null: it is open. */
  closed: string | null;
  /** In the order in which they joined. */
  participants: ClassMember[];
  /** The latest matches of their bots, the newest first. */
  results: ClassResult[];
}

export interface ClientShown {
  /** The node that serves it; empty: the server is no node of a cluster. */
  node: string;
  /** Names this connection, as long as the server or its node runs. */
  number: number;
  protocol: string;
  name: string;
  /** A game. */
  game: string;
  /** Where it comes from; for bots that the server calls, the host and port. */
  address: string;
  /** A moment in UTC, as in ISO 8601. */
  since: string;
  /** Messages that it sent. */
  received: number;
  /** Messages that it was sent. */
  sent: number;
  /** Milliseconds to an answer, on average. */
  answerMs: number | null;
  /** The match that it plays. */
  match: string | null;
}

export interface ClientsShown {
  clients: ClientShown[];
  /** Nodes that did not answer: their clients are missing. */
  silent: string[];
  total: number;
  limit: number;
  offset: number;
}

export interface CloseClass {
  do: "close";
}

export interface CommonOpponent {
  name: string;
  /** The results of the first bot. */
  first: OpponentLine;
  second: OpponentLine;
}

export interface Comparison {
  /** The two, in the order of the request. */
  bots: BotFace[];
  /** The results of the first against the second; null: they have not met. */
  met: OpponentLine | null;
  /** The share of the points that the first may expect by the ratings; null: these cannot be compared. */
  expected: number | null;
  /** The opponents that both have met, by the number of matches; 50 at most. */
  common: CommonOpponent[];
}

export interface Contest {
  name: string;
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  /** How many have ended. */
  matches: number;
  running: number;
  /** How many there will be, if no other bot joins. */
  planned: number;
  rankings: Rank[];
}

export interface ContestAction {
  action: "end" | "open" | "pause" | "resume" | "start";
}

export interface ContestBracket {
  format: string;
  /** By round, from the top. */
  meetings: ContestMeeting[];
  byes: ContestBye[];
}

export interface ContestBye {
  bot: string;
  round: number;
  place: BracketPlace;
}

export interface ContestEntrant {
  name: string;
  owner: string;
  version: string;
  /** The first round in which it no longer plays. */
  left: number | null;
}

export interface ContestLine {
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  name: string;
  matches: number;
  /** A moment in UTC, as in ISO 8601. */
  first: string;
  /** A moment in UTC, as in ISO 8601. */
  last: string;
}

export interface ContestLogLine {
  /** A moment in UTC, as in ISO 8601. */
  when: string;
  author: string;
  action: string;
  detail: string;
}

export interface ContestMeeting {
  key: string;
  round: number;
  /** The group, in the group stage of a contest. */
  group: number | null;
  /** In the order of seats of the first match. */
  bots: string[];
  /** Of these bots in this meeting, so far. */
  scores: number[];
  /** Its matches. */
  games: Fixture[];
  /** In a bracket, once its round is over. */
  winner: string | null;
  /** In the bracket of a knockout, of a double elimination or after groups, if it is one of pairs. */
  place: BracketPlace | null;
}

export interface ContestMeetings {
  meetings: ContestMeeting[];
  total: number;
  limit: number;
  offset: number;
}

export interface ContestStanding {
  bot: string;
  place: number;
  score: number;
  wins: number;
  draws: number;
  losses: number;
  byes: number;
  noShows: number;
  crashes: number;
  tieBreaks: number[];
  note: string;
  /** From the matches of this contest; null: it has played none. */
  rating: number | null;
  /** Half of the 95 % interval's width. */
  margin: number | null;
  /** Ratings of different groups are not comparable. */
  group: number | null;
}

export interface ContestText {
  name: string;
  /** The document in TOML, with its password. */
  toml: string;
}

export interface ContestTitle {
  /** A game. */
  game: string;
  name: string;
  title: string;
}

export interface ContestTitles {
  /** Those that have a title, the newest first; 1000 at most. */
  contests: ContestTitle[];
}

export interface Contests {
  contests: string[];
  total: number;
  limit: number;
  offset: number;
}

export interface Continue {
  /** The number of steps played before. */
  step: number;
  /** The player whose moves are given; null: house bots play for all. */
  seat: number | null;
  /** The moves of that player since then. */
  moves: unknown[];
}

export interface ContinuedMatch {
  /** The film of the match so far, as lines of JSON. */
  film: string;
  /** What the player sees that is to move; null: the match is over. */
  view: Record<string, unknown> | null;
}

export interface CountedClass {
  name: string;
  /** The join code. */
  code: string;
  /** A moment in UTC, as in ISO 8601. */
  expires: string;
  /** A moment in UTC, as in ISO 8601. */
  created: string;
  /** Since when nobody can join or register bots; null: it is open. */
  closed: string | null;
  participants: number;
}

export interface Crosstable {
  /** The best first; 100 at most. */
  bots: string[];
  /** How many bots there are. */
  total: number;
  /** Wins, draws and losses of each against each; null: they have not met. */
  rows: ((number[] | null)[])[];
}

export interface CubeRunChange {
  setup: Record<string, unknown> | null;
  paused: boolean | null;
}

export interface CubeRunShown {
  id: string;
  state: "done" | "failed" | "paused" | "running" | "stopped";
  setup: Record<string, unknown>;
  players: (Record<string, unknown>)[];
  games: number;
  /** The game that runs. */
  match: string | null;
  error: string;
  /** Why players were put out of a game: the last reason of each. */
  troubles: Record<string, string>;
  results: CubeScores[];
}

export interface CubeRunsShown {
  runs: CubeRunShown[];
}

export interface CubeScores {
  match: string;
  result: string;
  winner: string | null;
  scores: Record<string, number>;
}

export interface DeletedClass {
  name: string;
  deleted: boolean;
}

export interface DocumentedContest {
  name: string;
  /** A game. */
  game: string;
  state: "draft" | "open" | "over" | "paused" | "running";
  /** As in TOML. A password is shown as `...`. */
  document: Record<string, unknown>;
  /** Why it waits for its organiser; empty: it does not. */
  why: string;
  /** Bots with matches to play that are not connected. */
  awaited: string[];
  played: number;
  /** About how many matches there will be. */
  expected: number;
  entrants: ContestEntrant[];
  standings: ContestStanding[];
  /** The standings of each group, in a contest of groups. */
  groups: (ContestStanding[])[];
  /** The bots in the first place, once it is over; none if it ended before it was decided. */
  champions: string[];
  /** How many different games were played; repeated games count once. */
  distinctGames: number;
  /** How many blocks the intervals count, as a sentence; empty: no block was repeated, so all count. */
  repeated: string;
  rounds: Round[];
  /** The latest line first; 1000 at most. */
  log: ContestLogLine[];
  /** The names of the tie-breaks in the standings. */
  tieBreaks: string[];
  /** SHA-256 of the secret on which the seeds depend. */
  seedsHash: string;
  /** That secret, once the contest is over. */
  seedsSecret: string | null;
}

export interface DuelBoards {
  boards: PlayerBoard[];
  total: number;
  limit: number;
  offset: number;
}

export interface DuelPlayer {
  name: string;
  online: boolean;
  /** Elo: starts at 1200, with 30 points at stake on each board. */
  rating: number;
  /** Boards won. */
  score: number;
  /** Boards lost while the player was connected. */
  losses: number;
  draws: number;
  /** Boards that were completed. */
  boards: number;
  /** Boards lost by an illegal move, a timeout or a disconnect. */
  invalid: number;
  /** Seconds online. */
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

export interface EndOfMatch {
  reason: string;
}

export interface Ended {
  event: "ended";
  result: Result;
}

export interface EndedMatch {
  id: string;
  ended: boolean;
}

export interface Entrant {
  bot: string;
  /** The contest's password, if it has one. */
  password: string;
}

export interface Entry {
  contest: string;
  bot: string;
  entered: boolean;
}

export interface Error {
  error: string;
}

export interface Evaluation {
  steps: number[];
  shares: (number[])[];
  turns: Turn[];
  method: string;
}

export interface FilmFrame {
  t: number;
  event: Began | Played | Refused | Late | Out | Left | Returned | Amended | BoardEnded | Ended;
  view?: Record<string, unknown>;
  change?: Record<string, unknown>;
  thought?: Record<string, number>;
  headlines?: string[];
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

export interface Fixture {
  key: string;
  /** By seat. */
  bots: string[];
  /** null: it is still to be played. */
  result: FixtureResult | null;
}

export interface FixtureResult {
  places: number[];
  absent: number[];
  crashed: number[];
  match: string;
  fingerprint: number;
}

export interface FoundContest {
  /** A game. */
  game: string;
  name: string;
}

export interface Game {
  /** A game. */
  name: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  /** The least and the greatest number of players. */
  players: number[];
  options: GameOption[];
  terms: Terms;
  /** House bots for this game. */
  house: string[];
  /** House bots for people, weakest first. */
  levels: HouseLevel[];
}

export interface GameInFull {
  /** A game. */
  name: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  /** The least and the greatest number of players. */
  players: number[];
  options: GameOption[];
  terms: Terms;
  /** House bots for this game. */
  house: string[];
  /** House bots for people, weakest first. */
  levels: HouseLevel[];
  /** A position from a match between house bots. */
  sample: Sample;
}

export interface GameOption {
  name: string;
  description: string;
  default: unknown;
}

export interface Games {
  games: Game[];
}

export interface GivenDocument {
  /** The document in TOML. */
  toml: string | null;
  /** Or the same as JSON. */
  document: Record<string, unknown> | null;
}

export interface Habit {
  /** Such as: opens with a corner. */
  words: string;
  times: number;
  wins: number;
  draws: number;
  losses: number;
  /** The id of the last match of this kind. */
  match: string;
}

export interface Habits {
  /** What the game has words for. */
  kind: "deaths" | "none" | "openings";
  /** The latest matches of which they tell. */
  matches: number;
  /** The most frequent first. */
  habits: Habit[];
}

export interface HostedMatch {
  match: string;
  fault: string;
  log: string;
}

export interface HouseLevel {
  bot: string;
  /** How strong it is, in a word. */
  level: string;
  /** Whether people get it as an opponent unless they choose another one. */
  usual: boolean;
}

export interface Invitation {
  /** The players that wait with this invite, the longest wait first. */
  waiting: string[];
}

export interface InvitedBot {
  bot: string;
  invited: boolean;
}

export interface JoinClass {
  /** The join code; small letters and missing hyphens do not matter. */
  code: string;
  /** How the class shows the participant. */
  name: string;
}

export interface JoinedClass {
  class: string;
  name: string;
  /** The owner of its bots. */
  owner: string;
  /** The owner token, which is shown only once. With it the participant registers bots. */
  token: string;
}

export interface Late {
  event: "late";
  player: number;
  by: number;
}

export interface Leaderboard {
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  bots: LeaderboardLine[];
  /** Rated matches: those between registered bots or house bots. */
  matches: number;
  /** When the ratings were computed. */
  rated: string | null;
  /** The seats at a table; each size has ratings of its own. null: there is no rated match. */
  players: number | null;
  /** The table sizes with rated matches, the one with most matches first. */
  sizes: number[];
  /** The options of these ratings, as far as they differ from the defaults. */
  options: Record<string, unknown>;
  /** The sets of options with rated matches: the standard one, then by matches; 20 at most. */
  optionSets: OptionSet[];
  total: number;
  limit: number;
  offset: number;
}

export interface LeaderboardLine {
  /** By the lower end of the interval. null: its rating is provisional, or not comparable with the first. */
  place: number | null;
  name: string;
  /** The version that played last; null: it names none, or these are several old versions. */
  version: string | null;
  owner: string;
  /** Whether it is a house bot. */
  house: boolean;
  rating: number | null;
  /** The lower end of the 95 % interval; null: there is none. */
  low: number | null;
  /** The upper end of the 95 % interval; null: there is none. */
  high: number | null;
  /** Whether it is a house bot whose rating was measured once and stays as it is. */
  fixed: boolean;
  /** Its interval is wider than 150 points either way, and it has played fewer than 50 matches. */
  provisional: boolean;
  /** Ratings of different groups cannot be compared: these bots never met. */
  group: number | null;
  /** Rated matches of this version. */
  games: number;
  wins: number;
  draws: number;
  losses: number;
  /** The probability that it is stronger than the next bot by rating; null: nothing is known. */
  beatsNext: number | null;
}

export interface Lease {
  credential: string;
  bot: string;
  game: string;
  number: number;
  version: string;
  hash: string;
  toCheck: boolean;
  limits: UploadLimits;
  contest: string;
}

export interface LeasedArchive {
  /** In base64. */
  data: string;
}

export interface Left {
  event: "left";
  player: number;
}

export interface ListedContest {
  name: string;
  title: string;
  /** A game. */
  game: string;
  format: string;
  state: "draft" | "open" | "over" | "paused" | "running";
  entrants: number;
  /** A moment in UTC, as in ISO 8601. */
  created: string;
  start: string | null;
  end: string | null;
  /** Which bots may enter: open, list or password. */
  entry: string;
  /** Whether bots may enter after the start. */
  late: boolean;
  /** Why it waits for its organiser; empty: it does not, or its page says so. */
  why: string;
  /** The bots in the first place, once it is over. */
  champions: string[];
}

export interface ListedContests {
  contests: ListedContest[];
  total: number;
  limit: number;
  offset: number;
}

export interface Live {
  tables: Table[];
  total: number;
}

export interface LogShown {
  match: string;
  version: string;
  /** A moment in UTC, as in ISO 8601. */
  written: string;
  /** Why the bot failed; empty: it did not. */
  fault: string;
  /** The end of its standard error. */
  log: string;
}

export interface LogsShown {
  bot: string;
  /** The newest first. */
  logs: LogShown[];
}

export interface Match {
  id: string;
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  players: string[];
  contest: string | null;
  /** usual, or for people slow or stepped: such a match is unrated. */
  pace: "slow" | "stepped" | "usual";
  /** running, ended or aborted. */
  status: string;
  /** A moment in UTC, as in ISO 8601. */
  started: string;
  ended: string | null;
  result: Outcome | null;
  seats: Seat[];
  /** Why it is left out of ratings, leaderboards and records: the runner of a hosted bot was lost. null: it counts. */
  void: string | null;
}

export interface MatchEvaluation {
  /** null: nobody has asked for it yet. */
  evaluation: Evaluation | null;
}

export interface MatchInFull {
  id: string;
  /** A game. */
  game: string;
  /** The same game as the native protocol calls it. */
  gameType: string;
  players: string[];
  contest: string | null;
  /** usual, or for people slow or stepped: such a match is unrated. */
  pace: "slow" | "stepped" | "usual";
  /** running, ended or aborted. */
  status: string;
  /** A moment in UTC, as in ISO 8601. */
  started: string;
  ended: string | null;
  result: Outcome | null;
  seats: Seat[];
  /** Why it is left out of ratings, leaderboards and records: the runner of a hosted bot was lost. null: it counts. */
  void: string | null;
  options: Record<string, unknown>;
  /** Why it was aborted. */
  reason: string | null;
  /** The public view of the present or last position. */
  view: Record<string, unknown> | null;
  /** What decided a match that ended by the rules, in words, if it can be replayed. */
  verdict: string | null;
}

export interface MatchPlayer {
  name: string;
  /** Of a registered bot. */
  owner: string | null;
  /** The present rating of its version; null: it has none. */
  rating: number | null;
  /** The protocol of its connection while the match runs; null: none. */
  protocol: string | null;
}

export interface MatchPlayers {
  /** In the order of the seats. */
  players: MatchPlayer[];
  /** As that of a match. */
  void: string | null;
}

export interface Matches {
  matches: Match[];
  total: number;
  limit: number;
  offset: number;
}

export interface MergeParticipants {
  do: "merge";
  participant: string;
  into: string;
}

export interface NewBan {
  kind: "address" | "name";
  /** A name; or an address or a network (192.0.2.0/24). */
  subject: string;
  reason: string;
  /** null: until it is lifted. */
  until: string | null;
}

export interface NewBot {
  /** A game. */
  game: string;
  name: string;
  owner: string;
  /** Where the server calls it; the bot must repeat a challenge there. */
  url: string | null;
  /** The programming language that it is written in, for its page. */
  language: string;
}

export interface NewClass {
  name: string;
  /** Until the join code expires; null: the server's default. */
  hours: number | null;
}

export interface NewCubeRun {
  /** As in NEW_GAME of socket.io: maxNumOfTicks, edgeLength, numOfTasksPerTick, speed, playerStartPositions. */
  setup: Record<string, unknown>;
  /** name, and url: http://..., house:NAME, bot:NAME or connect:NAME; perhaps token. */
  players: (Record<string, unknown>)[];
  /** How many in a row. */
  games: number;
}

export interface NewRunner {
  name: string;
}

export interface NewWebhook {
  /** Where it is told; null: the present URL stays, and gets a new secret. */
  url: string | null;
}

export interface NextMatches {
  /** Players without an opponent; at each node, the longest wait first; 100 at most. */
  waiting: Waiting[];
  /** Matches left in contests in which a bot waits or plays; 100 at most. */
  unplayed: Unplayed[];
}

export interface NodeShown {
  name: string;
  /** Its own HTTP address; empty: it is starting. */
  url: string;
  version: string;
  /** It takes no new matches. */
  draining: boolean;
  /** Running matches. */
  tables: number;
  connections: number;
  /** Its clients that wait for an opponent. */
  waiting: number;
  /** The share of a core that it uses. */
  cpu: number;
  /** The time since it joined. */
  seconds: number;
  /** The games whose rooms and contests it has. */
  games: string[];
}

export interface NodeState {
  draining: boolean;
}

export interface NodesShown {
  /** The live nodes by name; none: the server is no node of a cluster. */
  nodes: NodeShown[];
  total: number;
  limit: number;
  offset: number;
}

export interface NumberOfUpload {
  number: number;
}

export interface NumberedBoard {
  board: PlayerBoard;
  /** The number of the board in its match, from 0. */
  number: number;
}

export interface OpponentLine {
  name: string;
  games: number;
  wins: number;
  draws: number;
  losses: number;
  /** A moment in UTC, as in ISO 8601. */
  last: string;
}

export interface Opponents {
  opponents: OpponentLine[];
  total: number;
  limit: number;
  offset: number;
}

export interface OptionSet {
  /** Those that differ from the defaults; empty: the standard set. */
  options: Record<string, unknown>;
  matches: number;
}

export interface Out {
  event: "out";
  player: number;
  cause: "aborted" | "complete" | "crash" | "disconnect" | "expelled" | "flood" | "illegal moves" | "resigned" | "timeout" | "unreadable";
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
  bank?: Bank;
}

export interface ParticipantShown {
  class: string;
  name: string;
  owner: string;
  /** Whether the class is closed. */
  closed: boolean;
  bots: Bot[];
  /** The latest matches of its bots, the newest first. */
  results: ClassResult[];
}

export interface PausedBot {
  why: string;
}

export interface Played {
  event: "played";
  step: number;
  moves: Record<string, unknown>;
}

export interface PlayerBoard {
  id: number;
  match: string;
  /** The player that began. */
  crosses: string;
  circles: string;
  /** The ratings of both players at the start. */
  ratings: number[];
  /** A moment in UTC, as in ISO 8601. */
  started: string;
  /** A moment in UTC, as in ISO 8601. */
  ended: string;
  moves: number;
  /** null: a draw. */
  winner: string | null;
}

export interface Profile {
  name: string;
  /** null: the name is not registered. */
  bot: BotFace | null;
  rating: LeaderboardLine | null;
  /** Its rated versions, the newest first. */
  versions: LeaderboardLine[];
  /** Its results up to then against the present ratings of its opponents; 100 at most. */
  history: RatingPoint[];
  /** All of its matches. */
  matches: number;
  /** The seats at a table; each size has ratings of its own. null: there is no rated match. */
  players: number | null;
  /** The table sizes with rated matches, the one with most matches first. */
  sizes: number[];
  /** The options of these ratings, as far as they differ from the defaults. */
  options: Record<string, unknown>;
  /** The sets of options with rated matches: the standard one, then by matches; 20 at most. */
  optionSets: OptionSet[];
  /** Its matches by the cause of their end; all but `complete` are faults. */
  causes: Record<string, number>;
}

export interface Rank {
  place: number;
  bot: string;
  wins: number;
  draws: number;
  losses: number;
  played: number;
  /** As in the standings of its document; without a document, the points of the method. */
  score: number;
  /** Such as `lost the final`; empty without a document. */
  note: string;
}

export interface RatingPoint {
  /** A moment in UTC, as in ISO 8601. */
  at: string;
  /** The version that played; each begins anew. null: it names none. */
  version: string | null;
  /** Rated matches of this version until then. */
  games: number;
  /** In Elo points. House bots have fixed ratings; in a group without them, 1500 is the mean. */
  rating: number;
  /** The lower end of the 95 % interval; null: there is none. */
  low: number | null;
  /** The upper end of the 95 % interval; null: there is none. */
  high: number | null;
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
  /** The bot's token, which is shown only once. */
  password: string;
}

export interface RematchInvite {
  invite: string;
}

export interface Removal {
  /** All connections of this name are closed. */
  name: string | null;
  /** Only this connection is closed. */
  number: number | null;
  /** The node of that number, as listed. In a cluster it is needed. */
  node: string;
  reason: string;
}

export interface RemoveParticipant {
  do: "remove";
  participant: string;
}

export interface Removed {
  /** How many connections were closed. */
  removed: number;
}

export interface RenameParticipant {
  do: "rename";
  participant: string;
  name: string;
}

export interface RerunOfContest {
  /** Play all matches of these bots again. */
  bots: string[];
  /** Play only matches with no-shows and crashes again. */
  failed: boolean;
}

export interface ResetCode {
  do: "reset";
  /** Until the join code expires; null: the server's default. */
  hours: number | null;
}

export interface Result {
  places: number[];
  scores: number[];
  causes: ("aborted" | "complete" | "crash" | "disconnect" | "expelled" | "flood" | "illegal moves" | "resigned" | "timeout" | "unreadable")[];
  boards: BoardResult[];
}

export interface Returned {
  event: "returned";
  player: number;
}

export interface Round {
  number: number;
  byes: string[];
  fixtures: Fixture[];
  meetings: number;
  /** The number of its matches. */
  games: number;
  /** Those that have results. */
  played: number;
}

export interface RunnerAdded {
  name: string;
  /** Shown only once. */
  token: string;
}

export interface RunnerBeat {
  machine: RunnerMachine;
  /** The hashes of the credentials of all its leases. Its other leases end. */
  held: string[];
  /** Versions that it can check beside these. */
  checks: number;
  /** Bots that it can play beside these. */
  bots: number;
}

export interface RunnerDone {
  done: boolean;
}

export interface RunnerMachine {
  about: string;
  runnerClass: string;
  speed: number;
}

export interface RunnerNews {
  given: Lease[];
  ending: string[];
  lost: string[];
}

export interface RunnerShown {
  name: string;
  /** A moment in UTC, as in ISO 8601. */
  added: string;
  /** What the runner says of its machine; empty: it was not seen since the server started. */
  about: string;
  /** The class of its machine: contests may demand one. */
  runnerClass: string;
  /** Of its machine for bots in Python; 0: unknown. */
  speed: number;
  /** Versions that it checks or plays. */
  bots: number;
  /** Why it gets no work at present; empty: it does. */
  paused: string;
}

export interface RunnersShown {
  runners: RunnerShown[];
}

export interface Sample {
  players: string[];
  public: Record<string, unknown>;
  seat: number;
  view: Record<string, unknown>;
  move: unknown;
}

export interface SearchResult {
  bots: string[];
  /** Names in matches that are not registered, such as guests'. */
  players: string[];
  contests: FoundContest[];
  /** Ids. */
  matches: string[];
}

export interface Seat {
  /** From 0, in the order of the players. */
  seat: number;
  bot: string;
  /** 1 for the winner; players that tie share a place. */
  place: number | null;
  score: number | null;
  /** Why it ended for this bot. */
  cause: string | null;
  /** The version that the bot named; null: none. */
  version: string | null;
  /** The outcome in one line. Only for one match, when it is over and can be replayed. */
  headline?: string;
}

export interface ServerAddress {
  version: string;
  /** The URL for people and bots; null: the one that you used. */
  url: string | null;
  /** HTTP and WebSockets are encrypted; the ports of the other protocols never are. */
  tls: boolean;
  /** By protocol: http (also WebSockets and socket.io), duel, xbs, bomber, cube; others: rooms for boats. */
  ports: Record<string, number>;
  /** House bots play with bots that find no opponent. */
  house: boolean;
  /** The URL for other machines on the same network, told to clients on the server's own; null: it is unknown, or none can reach it. */
  networkUrl: string | null;
  uploads: UploadsTaken;
}

export interface SignIn {
  /** The operator's token. */
  token: string;
}

export interface SignedIn {
  signedIn: boolean;
  /** Seconds that it lasts; null: the token came with the request. */
  seconds: number | null;
}

export interface Standings {
  bots: Rank[];
  total: number;
  limit: number;
  offset: number;
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
  /** usual, or for people slow or stepped: such a match is unrated. */
  pace: "slow" | "stepped" | "usual";
}

export interface Terms {
  pace: Pace;
  strikes: number | null;
  hasty: "free" | "illegal";
  late: "out" | "pass";
  patience: number | null;
  gone: "out" | "pass" | "wait";
  absence: number;
  reunion: number;
  early_end: boolean;
  boards: number;
}

export interface Turn {
  step: number;
  player: number;
  change: number;
  words: string;
}

export interface Unplayed {
  /** A game. */
  game: string;
  contest: string;
  players: string[];
  /** Matches that these players have left. */
  left: number;
}

export interface Upload {
  number: number;
  /** What the bot names as its version when it logs in; its ratings are by version. */
  version: string;
  hash: string;
  size: number;
  /** A moment in UTC, as in ISO 8601. */
  uploaded: string;
  /** waiting: for its check; a rejected version never plays. */
  state: "accepted" | "deleted" | "rejected" | "waiting";
  report: string;
  /** Whether this is the version that plays. */
  active: boolean;
  /** Why it does not play at present; empty: it does. */
  paused: string;
  /** The runner that checks or plays it. */
  runner: string | null;
  /** The class of that runner's machine; empty: it has not been seen since the server started. */
  runnerClass: string;
}

export interface UploadAdded {
  bot: string;
  number: number;
  version: string;
  /** The size of each file. */
  files: Record<string, number>;
}

export interface UploadChange {
  /** The number of the version that plays from now on. */
  active: number | null;
  paused: boolean | null;
}

export interface UploadLimits {
  packed: number;
  unpacked: number;
  files: number;
}

export interface Uploads {
  bot: string;
  /** The newest first. */
  uploads: Upload[];
  limits: UploadLimits;
}

export interface UploadsTaken {
  /** off, everybody, or invited: those of participants of classes, and bots that the operator has invited. */
  allowed: string;
  /** Uploads of a participant, or of another bot, within 24 hours. */
  daily: number;
  limits: UploadLimits;
}

export interface Waiting {
  name: string;
  /** A game. */
  game: string;
  contest: string | null;
  /** Players at its table, including itself. */
  players: number;
  /** The only opponent that it accepts; null: any. */
  opponent: string | null;
}

export interface WebhookAttempt {
  /** As in the header webhook-id. */
  id: string;
  event: string;
  /** A moment in UTC, as in ISO 8601. */
  at: string;
  /** A moment in UTC, as in ISO 8601. */
  tried: string;
  tries: number;
  /** delivered, waiting or given up. */
  state: string;
  /** Why the last attempt failed; empty: it did not. */
  error: string;
}

export interface WebhookSet {
  subject: string;
  url: string;
  /** The key of the signatures, which is shown only once. */
  secret: string;
}

export interface WebhookShown {
  /** all, bots/NAME or contests/NAME. */
  subject: string;
  url: string;
  /** The last 20, the latest attempt first. */
  deliveries: WebhookAttempt[];
}

export interface WebhookTested {
  /** Why the call failed; empty: the receiver has answered. */
  error: string;
}

export interface WebhooksShown {
  webhooks: WebhookShown[];
  total: number;
  limit: number;
  offset: number;
}

export interface Withdrawal {
  bot: string;
  reason: string;
}
