/** Filters of lists. They are in the address, so that a list can be shared. */
import type { Games } from '../api/types';
import { useRest } from '../api/use';
import { gameTitle } from '../pages/rules';
import { go, path, query } from '../router';

/** Change the query of the address, and go to the first page. */
export function setFilter(name: string, value: string): void {
  const values = new URLSearchParams(query.value);
  if (value) values.set(name, value);
  else values.delete(name);
  values.delete('from');
  const text = values.toString();
  go(path.value + (text && `?${text}`), true);
}

export function GameFilter() {
  const { value } = useRest<Games>('/games');
  return (
    <label>Game
      <select value={query.value.get('game') ?? ''} onChange={(event) => setFilter('game', event.currentTarget.value)}>
        <option value="">all</option>
        {value?.games.map(({ name }) => <option key={name} value={name}>{gameTitle(name)}</option>)}
      </select>
    </label>
  );
}

/** Takes effect when the user is done, not with every key. */
export function TextFilter({ name, title }: { name: string; title: string }) {
  return <label>{title}<input value={query.value.get(name) ?? ''} onChange={(event) => setFilter(name, event.currentTarget.value)} /></label>;
}

export function DateFilter({ name, title }: { name: string; title: string }) {
  return <label>{title}<input type="date" value={query.value.get(name) ?? ''} onChange={(event) => setFilter(name, event.currentTarget.value)} /></label>;
}

export function ChoiceFilter({ name, title, choices }: { name: string; title: string; choices: Record<string, string> }) {
  return (
    <label>{title}
      <select value={query.value.get(name) ?? ''} onChange={(event) => setFilter(name, event.currentTarget.value)}>
        {Object.entries(choices).map(([value, words]) => <option key={value} value={value}>{words}</option>)}
      </select>
    </label>
  );
}
