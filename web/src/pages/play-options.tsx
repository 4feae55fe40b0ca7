/** The options of a game, as fields of a form. */
import type { GameOption } from '../api/types';

/** The typed values, by the name of the option. */
export type Texts = Record<string, string>;

interface OptionsProps {
  options: readonly GameOption[];
  texts: Texts;
  setTexts: (texts: Texts) => void;
}

export function Options({ options, texts, setTexts }: OptionsProps) {
  return (
    <details class="play-options">
      <summary>Options of the game</summary>
      {options.filter(isPlain).map((option) => (
        <Field key={option.name} option={option} text={texts[option.name] ?? shown(option.default)} type={(text) => setTexts({ ...texts, [option.name]: text })} />
      ))}
    </details>
  );
}

function Field({ option, text, type }: { option: GameOption; text: string; type: (text: string) => void }) {
  return (
    <label class="field">
      <span><span class="mono">{option.name}</span> <span class="quiet">{option.description}</span></span>
      <Input kind={typeof option.default} text={text} type={type} />
    </label>
  );
}

function Input({ kind, text, type }: { kind: string; text: string; type: (text: string) => void }) {
  if (kind === 'boolean') return <input type="checkbox" checked={text === 'true'} onChange={(event) => type(String(event.currentTarget.checked))} />;
  if (kind === 'number') return <input type="number" required value={text} onInput={(event) => type(event.currentTarget.value)} />;
  return <input required value={text} onInput={(event) => type(event.currentTarget.value)} />;
}

/** Lists and the like are for programs. */
function isPlain({ default: usual }: GameOption): boolean {
  return ['number', 'boolean', 'string'].includes(typeof usual);
}

function shown(value: unknown): string {
  return String(value);
}

/** The options that differ from the defaults. The server checks them. */
export function changed(options: readonly GameOption[], texts: Texts): Record<string, unknown> {
  const entries = options.flatMap(({ name, default: usual }) => {
    const text = texts[name];
    return text === undefined || text === shown(usual) ? [] : [[name, read(text, usual)] as const];
  });
  return Object.fromEntries(entries);
}

function read(text: string, usual: unknown): unknown {
  if (typeof usual === 'boolean') return text === 'true';
  return typeof usual === 'number' ? Number(text) : text;
}
