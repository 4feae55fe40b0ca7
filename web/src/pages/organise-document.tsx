/** A form for the document of a contest in TOML. An error of the server leads to its line. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask } from '../api/rest';
import type { DocumentedContest } from '../api/types';
import { hush, say } from '../parts/doing';

interface FormProps {
  text: string;
  path: string;
  method: 'POST' | 'PUT';
  action: string;
  /** The message of a success. */
  done: (contest: DocumentedContest) => string;
  saved: (contest: DocumentedContest) => void;
}

export function DocumentForm({ text: first, path, method, action, done, saved }: FormProps) {
  const [text, setText] = useState(first);
  const [error, setError] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => void (error && area.current && selectLine(area.current, lineIn(error))), [error]);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setError('');
    hush();
    try {
      const contest = await ask<DocumentedContest>(path, { method, body: { toml: text } });
      saved(contest);
      say(done(contest));
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
    }
  };
  return (
    <form class="document-form" aria-label="Document" onSubmit={(event) => void submit(event)}>
      <label class="field">Document (TOML)
        <textarea ref={area} rows={Math.min(24, Math.max(12, first.split('\n').length + 1))} spellcheck={false} wrap="off" required value={text} aria-invalid={error !== ''} aria-describedby={error ? 'document-error' : undefined} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {error && <p id="document-error" role="alert" class="notice failed">{error}</p>}
      <p class="form-end"><button type="submit" class="main">{action}</button></p>
    </form>
  );
}

/** The number of the line that an error names; null: none. */
export function lineIn(error: string): number | null {
  const found = /^line (\d+):/.exec(error);
  return found ? Number(found[1]) : null;
}

function selectLine(area: HTMLTextAreaElement, line: number | null): void {
  if (line === null) return;
  const lines = area.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
}
