/** Scores of games in a row, summed up. */
import type { CubeScores } from '../api/types';

export interface Summary {
  name: string;
  won: number;
  mean: number;
  best: number;
}

/** One line per player, the one with most games won first. */
export function summaries(results: readonly CubeScores[], names: readonly string[]): Summary[] {
  const lines = names.map((name) => {
    const scores = results.map((result) => result.scores[name] ?? 0);
    const won = results.filter(({ winner }) => winner === name).length;
    return { name, won, mean: scores.reduce((sum, score) => sum + score, 0) / (scores.length || 1), best: Math.max(0, ...scores) };
  });
  return lines.sort((one, other) => other.won - one.won || other.mean - one.mean);
}

/** The numbers of the games, then the scores of each player. */
export function plotted(results: readonly CubeScores[], names: readonly string[]): [number[], ...(number | null)[][]] {
  return [results.map((_, at) => at + 1), ...names.map((name) => results.map((result) => result.scores[name] ?? null))];
}

export function inWords(lines: readonly Summary[], games: number): string {
  return `Scores over ${games} ${games === 1 ? 'game' : 'games'}. ${lines.map(({ name, won, mean }) => `${name}: ${won} won, ${mean.toFixed(1)} on average`).join('; ')}`;
}
