/** Doing: a request that changes something, and the message about its outcome. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ask, type Ask } from '../api/rest';

interface Notice {
  words: string;
  failed: boolean;
}

/** Milliseconds for which a success message is shown. Failures stay until they are closed. */
const SHOWN = 6000;
const notice = signal<Notice | null>(null);

export function say(words: string, failed = false): void {
  notice.value = { words, failed };
}

/** Remove the message: another page is shown. */
export function hush(): void {
  notice.value = null;
}

/** Return the answer; null if it failed, and then the user sees why. `done` is the message of a success. */
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

/** The last message. */
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
