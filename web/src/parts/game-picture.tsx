/** A position of a game by example, drawn by its renderer. */
import { useMemo } from 'preact/hooks';
import type { GameInFull } from '../api/types';
import { useRest } from '../api/use';
import type { Seat } from '../renderers/renderer';
import { useRenderer } from '../renderers/use';
import type { View } from '../replay/film';

export function GamePicture({ game, small = false }: { game: string; small?: boolean }) {
  const { value } = useRest<GameInFull>(`/games/${encodeURIComponent(game)}`);
  const renderer = useRenderer(game);
  const sample = value?.sample;
  const seats = useMemo<Seat[]>(() => sample?.players.map((name, player) => ({ player, name })) ?? [], [sample]);
  const view = sample?.public as View | undefined;
  const label = view && renderer ? renderer.describe(view, seats) : 'A position of the game';
  return (
    <div class={small ? 'game-picture small' : 'game-picture'}>
      <div inert aria-hidden="true">{renderer && view && <renderer.Board view={view} before={null} event={null} seats={seats} final={null} small={small} />}</div>
      {!small && <p class="hidden">{label}</p>}
    </div>
  );
}
