/** The dialogs of the viewer: the keys, and the line to embed a match. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useCopying } from '../parts/copy-line';
import { HOTKEYS } from './keys';

function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="viewer-dialog" ref={dialog} aria-label={title} onClose={close} onClick={(event) => event.target === dialog.current && close()}>
      <h2>{title}</h2>
      {children}
      <p class="dialog-end"><button type="button" class="main" onClick={close}>Close</button></p>
    </dialog>
  );
}

export function HelpDialog({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {HOTKEYS.map(({ shown, words }) => (
          <div key={shown}>
            <dt><kbd>{shown}</kbd></dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">On a touch screen: swipe on the board to step, tap it to play or pause.</p>
    </Dialog>
  );
}

export function EmbedDialog({ line, close }: { line: string; close: () => void }) {
  const [copied, copy] = useCopying();
  return (
    <Dialog title="Embed this match" close={close}>
      <p>Put this line into your own page. It shows the board and its controls.</p>
      <textarea class="embed-line mono" readOnly rows={4} aria-label="HTML to embed the match" value={line} onFocus={(event) => event.currentTarget.select()} />
      <p><button type="button" onClick={() => copy(line)}>{copied ? 'Copied' : 'Copy'}</button></p>
    </Dialog>
  );
}
