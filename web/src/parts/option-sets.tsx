/** The options of the ratings that are shown, and links to the other sets: each set has ratings of its own. */
import type { OptionSet } from '../api/types';
import { elsewhere } from './table-sizes';

type Options = OptionSet['options'];

export function OptionSets({ shown, sets, prefix = '' }: { shown: Options; sets: readonly OptionSet[]; prefix?: string }) {
  const chosen = JSON.stringify(shown);
  if (chosen === '{}' && sets.length < 2) return null;
  return (
    <> · {optionWords(shown)}
      {sets.filter(({ options }) => JSON.stringify(options) !== chosen).map(({ options }) => {
        const text = JSON.stringify(options);
        return <span key={text}> · <a href={elsewhere(`${prefix}options`, text, `${prefix}players`, `${prefix}from`)}>{optionWords(options)}</a></span>;
      })}
    </>
  );
}

export function optionWords(options: Options): string {
  return Object.entries(options).map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ') || 'standard options';
}
