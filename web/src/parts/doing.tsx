/** Doing: a request that changes something, and what is said about how it went. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ask, type Ask } from '../api/rest';

interface Notice {
  words: string;
  failed: boolean;
}

/** Milliseconds for which it is said that something was done. Failures stay until they are closed. */
const SHOWN = 6000;
const notice = signal<Notice | null>(null);

export function say(words: string, failed = false): void {
  notice.value = { words, failed };
}

/** Say nothing any more: another page is shown. */
export function hush(): void {
  notice.value = null;
}

/** The answer; null if it failed, and then the user is told why. `done` is said when it succeeds. */
export async function change<T>(path: string, options: Ask, done: string | ((answer: T) => string)): Promise<T | null> {
  try {
    const answer = await ask<T>(path, options);
    say(typeof done === 'string' ? done : done(answer));
    return answer;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), true);
    return null;
  }
}

/** What was said last. */
export function Notices() {
  const shown = notice.value;
  useEffect(() => {
    if (!shown || shown.failed) return;
    const timer = setTimeout(() => notice.value === shown && (notice.value = null), SHOWN);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <div class="notices">
      <p role="status" class={shown && !shown.failed ? 'notice' : ''}>{shown && !shown.failed ? shown.words : ''}</p>
      {shown?.failed && (
        <p role="alert" class="notice failed">
          {shown.words} <button type="button" class="plain" aria-label="Close this message" onClick={() => (notice.value = null)}>✕</button>
        </p>
      )}
    </div>
  );
}
