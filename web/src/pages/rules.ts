/** Games in words: their titles, and the rules in short. A game that is not listed is shown under its own name. */
import { own } from '../own';

export interface Rules {
  title: string;
  /** One sentence. */
  gist: string;
  rules: readonly string[];
}

const RULES: Record<string, Rules> = {
  'noughts-and-crosses': {
    title: 'Noughts and crosses',
    gist: 'Three in a row on a board of nine spaces.',
    rules: [
      'Two players mark free spaces in turn: crosses begin, noughts follow.',
      'Three marks of one player in a row, a column or a diagonal win. A full board without such a line is a draw.',
      'A bot has 5 seconds for a turn. A late move, or the third illegal one, loses the match.',
    ],
  },
  gomoku: {
    title: 'Gomoku',
    gist: 'Five in a row on a large board, two boards a match.',
    rules: [
      'Two players put stones on free cells in turn. A stone stays where it is.',
      'Five or more stones of one player side by side win: across, down, or on either diagonal. A full board without such a row is a draw.',
      'No move is forbidden, and there are no rules for the opening. A match is two boards, and each player begins one of them.',
    ],
  },
  battleship: {
    title: 'Battleship',
    gist: 'Two to nine hidden fleets, one shot a turn. Every hit is a point.',
    rules: [
      'All players hide the same boats on boards of their own, at the same time and in secret.',
      'Then they shoot in turn, each at any square of any other board that nobody has shot at yet. Everybody sees whether it was a hit or a miss; nobody is told which boat it was.',
      'Every hit is a point for the shooter. A player whose boats are all sunk shoots on. The game ends with the round in which a player reaches the goal.',
    ],
  },
  bumblebots: {
    title: 'Bumblebots',
    gist: 'Drones on a meadow of hexes claim flowers, four moves a second.',
    rules: [
      'Two bots steer their drones over a board of hexes. All drones move at once, in ticks of 250 ms; a game has 100 of them.',
      'A drone that reaches a flower claims it: its bot scores a point, the drone is used up, and the ground around the flower is closed to the other bot’s drones.',
      'New flowers grow now and then, and new drones take the place of those that are gone. The bot that has claimed more flowers at the end wins.',
    ],
  },
  battlecube: {
    title: 'Battlecube',
    gist: 'Up to 64 bots in a cube: step, bomb, or stand. The last one wins.',
    rules: [
      'In every tick each bot steps to a neighbouring cell, drops a bomb on any cell, or does nothing. All of them act at once.',
      'A bot that leaves the cube, meets another bot, or stands on a bomb has lost. Bombs lie until a bot stands on them.',
      'The last bot in the cube wins. Bots that lose in the same tick tie. A bot has 5 seconds for an answer.',
    ],
  },
  bomberman: {
    title: 'Bomberman',
    gist: 'Bombs, crates and closing walls for two to eight, five rounds a second.',
    rules: [
      'Two to eight users walk over a map of pillars and crates, all at once, in rounds of 200 ms. A user that sends nothing stands still.',
      'Bombs open crates, set off other bombs and kill users, the one that placed them included. Some crates hide an upgrade: one more bomb, or a longer range.',
      'From round 300 on, walls close in from the edge. The user that lives longest wins.',
    ],
  },
};

/** The games of most servers, in their order, while the list of this one is loading. */
export const USUAL_GAMES: readonly string[] = ['noughts-and-crosses', 'bumblebots', 'gomoku', 'battleship', 'battlecube', 'bomberman'];

export function gameTitle(game: string): string {
  return own(RULES, game)?.title ?? game;
}

export function rulesOf(game: string): Rules {
  return own(RULES, game) ?? { title: game, gist: 'A game on this server.', rules: [] };
}
