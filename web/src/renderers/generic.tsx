/** The renderer for any game: its view, readably. */
import type { View } from '../replay/film';
import type { BoardProps, Renderer } from './renderer';

function GenericBoard({ view, small }: BoardProps) {
  if (small) return <p class="generic-small">{Object.keys(view).length} values</p>;
  return (
    <dl class="generic">
      {Object.entries(view).map(([key, value]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

export const generic: Renderer = {
  Board: GenericBoard,
  describe: (view: View) => Object.entries(view).map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join('; '),
};
