/** A dialog that confirms an irreversible action, and may ask for the reason. */
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Question {
  title: string;
  /** The consequences. */
  words: string;
  /** The label of the button that confirms. */
  action: string;
  /** The label of a field for a line of text; without it there is none. */
  field?: string;
  needed?: boolean;
}

interface Asked extends Question {
  answer: (text: string | null) => void;
}

const asked = signal<Asked | null>(null);

/** The text of the field when the user agrees, null when not. */
export function askFirst(question: Question): Promise<string | null> {
  return new Promise((resolve) => {
    asked.value?.answer(null);
    const answer = (text: string | null) => {
      asked.value = null;
      resolve(text);
    };
    asked.value = { ...question, answer };
  });
}

/** Where questions are shown: once on a page that asks any. */
export function Questions() {
  const question = asked.value;
  return question && <QuestionDialog key={question.title} {...question} />;
}

function QuestionDialog({ title, words, action, field, needed = false, answer }: Asked) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    answer(text.trim());
  };
  return (
    <dialog class="viewer-dialog" ref={dialog} aria-label={title} onClose={() => answer(null)}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        <p>{words}</p>
        {field && <label class="field">{field}<input value={text} required={needed} maxLength={200} onInput={(event) => setText(event.currentTarget.value)} /></label>}
        <p class="dialog-end">
          <button type="button" onClick={() => answer(null)}>Cancel</button> <button type="submit" class="danger">{action}</button>
        </p>
      </form>
    </dialog>
  );
}
