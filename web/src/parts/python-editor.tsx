/** An editor for Python: a text area over its own text in colours, so that the browser's undo, keyboards of phones and screen readers work. */
import { tokenizeWith, type ShjGrammar } from '@speed-highlight/core/tokenize';
import python from '@speed-highlight/core/languages/py.js';
import { useMemo, useRef } from 'preact/hooks';

const INDENT = 4;
const PYTHON = python as ShjGrammar;

export interface Edit {
  from: number;
  to: number;
  text: string;
}

/** What a key does to the text beside the usual; null: nothing. */
export function editBy(key: string, text: string, from: number, to: number): Edit | null {
  const before = text.slice(text.lastIndexOf('\n', from - 1) + 1, from);
  const spaces = /^ */.exec(before)![0].length;
  if (key === 'Tab') return { from, to, text: ' '.repeat(INDENT - (before.length % INDENT)) };
  if (key === 'Enter') return { from, to, text: `\n${' '.repeat(spaces + (before.trimEnd().endsWith(':') ? INDENT : 0))}` };
  if (key === 'Backspace' && from === to && spaces > 1 && spaces === before.length) return { from: from - (((spaces - 1) % INDENT) + 1), to, text: '' };
  return null;
}

export function PythonEditor({ label, value, change }: { label: string; value: string; change: (text: string) => void }) {
  const leaving = useRef(false);
  const press = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
    const { key, currentTarget: area } = event;
    const leaves = leaving.current && key === 'Tab';
    if (key !== 'Shift') leaving.current = key === 'Escape';
    if (leaves || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const edit = editBy(key, area.value, area.selectionStart, area.selectionEnd);
    if (!edit) return;
    event.preventDefault();
    area.setSelectionRange(edit.from, edit.to);
    document.execCommand(edit.text ? 'insertText' : 'delete', false, edit.text); // unlike setRangeText, it can be undone
  };
  return (
    <>
      <div class="editor">
        <Coloured text={value} />
        <textarea aria-label={label} aria-describedby="editor-keys" value={value} wrap="off" spellcheck={false} autoComplete="off" autoCapitalize="off" onKeyDown={press} onInput={(event) => change(event.currentTarget.value)} />
      </div>
      <p class="quiet" id="editor-keys">Tab indents. To leave the editor, press Escape, then Tab.</p>
    </>
  );
}

function Coloured({ text }: { text: string }) {
  const tokens = useMemo(() => tokensOf(text), [text]);
  return <pre aria-hidden="true">{tokens.map(([words, kind], at) => (kind ? <span key={at} class={`token-${kind}`}>{words}</span> : words))}{'\n'}</pre>;
}

export function tokensOf(text: string): [string, string | undefined][] {
  const found: [string, string | undefined][] = [];
  tokenizeWith(text, PYTHON, (words, kind) => void (words && found.push([words, kind])), { languages: { py: PYTHON, todo: { type: 'cmnt', sub: [] } } });
  return found;
}
