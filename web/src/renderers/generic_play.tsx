/** Playing any game: its legal moves as buttons, and a field for any move as JSON. */
import { useEffect, useState } from 'preact/hooks';
import type { View } from '../replay/film';
import { moveInWords } from './generic_view';

/** With more moves than this there is a field to search them. */
const FEW = 24;
const MOST_BUTTONS = 200;

export function MovePad({ view, legal, move }: { view: View; legal: readonly unknown[] | undefined; move: (raw: unknown) => void }) {
  const [sent, setSent] = useState<string | null>(null);
  useEffect(() => setSent(null), [view]);
  const send = (raw: unknown) => {
    setSent(moveInWords(raw));
    move(raw);
  };
  return (
    <div class="generic-play">
      {legal && legal.length > 0 && <MoveButtons legal={legal} send={send} />}
      <JsonField example={legal?.[0]} send={send} />
      <p role="status">{sent === null ? 'It is your turn.' : `Sent: ${sent}.`}</p>
    </div>
  );
}

/** One stop for Tab; the arrow keys lead from move to move. */
function MoveButtons({ legal, send }: { legal: readonly unknown[]; send: (raw: unknown) => void }) {
  const [wanted, setWanted] = useState('');
  const [current, setCurrent] = useState(0);
  const found = legal.map((raw) => ({ raw, words: moveInWords(raw) })).filter(({ words }) => words.toLowerCase().includes(wanted.toLowerCase()));
  const shown = found.slice(0, MOST_BUTTONS);
  const stop = Math.min(current, shown.length - 1);
  const walk = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (stop + step + shown.length) % shown.length;
    setCurrent(next);
    (event.currentTarget.children[next] as HTMLElement).focus();
  };
  return (
    <>
      {legal.length > FEW && <label>Search the moves <input type="search" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} /></label>}
      <div class="generic-moves" role="group" aria-label="Legal moves" onKeyDown={walk}>
        {shown.map(({ raw, words }, place) => (
          <button key={words} type="button" tabIndex={place === stop ? 0 : -1} onFocus={() => setCurrent(place)} onClick={() => send(raw)}>{words}</button>
        ))}
      </div>
      {found.length > shown.length && <p class="quiet">And {found.length - shown.length} more: search for them.</p>}
    </>
  );
}

function JsonField({ example, send }: { example: unknown; send: (raw: unknown) => void }) {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    const raw = parsed(text);
    setFault(raw === undefined ? `${text ? `“${text.slice(0, 40)}”` : 'An empty field'} is not JSON; an example: ${JSON.stringify(example ?? { key: 'value' })}` : null);
    if (raw !== undefined) send(raw);
  };
  return (
    <form class="generic-json" onSubmit={submit}>
      <label>Move as JSON <input class="mono" value={text} placeholder={JSON.stringify(example ?? {})} aria-invalid={fault !== null} onInput={(event) => setText(event.currentTarget.value)} /></label>
      <button type="submit">Send</button>
      {fault && <p role="alert">{fault}</p>}
    </form>
  );
}

/** undefined: it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
