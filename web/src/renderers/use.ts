/** useRenderer: the renderer of a game, when it is there. */
import { useEffect, useState } from 'preact/hooks';
import type { Renderer } from './renderer';
import { rendererOf } from './table';

export function useRenderer(game: string | null): Renderer | null {
  const [found, setFound] = useState<Renderer | null>(null);
  useEffect(() => {
    let wanted = true;
    if (game !== null) void rendererOf(game).then((renderer) => wanted && setFound(renderer));
    return () => void (wanted = false);
  }, [game]);
  return found;
}
