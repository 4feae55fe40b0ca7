/** A rating with its 95 % interval. */
import type { LeaderboardLine } from '../api/types';

export function Rating({ rating, low, high }: Pick<LeaderboardLine, 'rating' | 'low' | 'high'>) {
  if (rating === null) return <span class="quiet">–</span>;
  const margin = low === null || high === null ? null : (high - low) / 2;
  return (
    <span class="rating">
      {Math.round(rating)}
      {margin !== null && <span class="quiet" title={`95 % interval: ${Math.round(low!)} to ${Math.round(high!)}`}> ±{Math.round(margin)}</span>}
    </span>
  );
}

/** The probability that a bot is stronger than the next one. Nothing is certain, so it is never 100 %. */
export function BeatsNext({ beatsNext }: Pick<LeaderboardLine, 'beatsNext'>) {
  if (typeof beatsNext !== 'number') return <span class="quiet">–</span>;
  const percent = beatsNext > 0.99 ? '>99 %' : `${Math.round(100 * beatsNext)} %`;
  return <span title="The probability that this bot is stronger than the next one by rating">{percent}</span>;
}
