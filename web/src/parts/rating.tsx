/** A rating with its 95 % interval. */
import type { LeaderboardLine } from '../api/types';

export type Rated = Pick<LeaderboardLine, 'rating' | 'low' | 'high'> & Partial<Pick<LeaderboardLine, 'fixed' | 'provisional'>>;

export function Rating({ rating, low, high, fixed, provisional }: Rated) {
  if (rating === null) return <span class="quiet">–</span>;
  if (provisional) return <span class="quiet" title={low === null || high === null ? 'Too few matches for a rating' : `Too few matches for a rating; between ${Math.round(low)} and ${Math.round(high)} so far`}>provisional</span>;
  if (fixed) return <span class="rating" title="The rating of a house bot is fixed: it was measured once">{Math.round(rating)}<span class="quiet"> fixed</span></span>;
  const margin = low === null || high === null ? null : (high - low) / 2;
  return (
    <span class="rating">
      {Math.round(rating)}
      {margin !== null && <span class="quiet" title={`95 % interval: ${Math.round(low!)} to ${Math.round(high!)}`}> ±{Math.round(margin)}</span>}
    </span>
  );
}

/** Marks a bot that has never met those of the first group. */
export function NotComparable({ group }: Pick<LeaderboardLine, 'group'>) {
  if (!group) return null;
  return <>{' '}<span class="badge" title="This bot has never met those of the first group, not even through others, so their ratings cannot be compared.">group {group + 1}, not comparable</span></>;
}

/** The probability that a bot is stronger than the next one. Nothing is certain, so it is never 100 %. */
export function BeatsNext({ beatsNext }: Pick<LeaderboardLine, 'beatsNext'>) {
  if (typeof beatsNext !== 'number') return <span class="quiet">–</span>;
  const percent = beatsNext > 0.99 ? '>99 %' : `${Math.round(100 * beatsNext)} %`;
  return <span title="The probability that this bot is stronger than the next one by rating">{percent}</span>;
}
