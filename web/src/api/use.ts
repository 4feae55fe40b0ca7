/** useRest: an answer of the server with its states: loading, loaded, failed. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ask, RestError, TRY_AGAIN } from './rest';

export interface Reading<T> {
  /** The last answer; it stays while a new one is loading. */
  value: T | null;
  error: string | null;
  loading: boolean;
  again: () => void;
}

/** `path`: null while it is not known yet what to ask for. `first`: an answer that is here already. `every`: milliseconds after an answer before it is asked again; after a failure that may pass it is asked again anyway. `token`: for what is private. */
export function useRest<T>(path: string | null, every = 0, first: T | null = null, token = ''): Reading<T> {
  const [state, setState] = useState<Omit<Reading<T>, 'again'>>({ value: first, error: null, loading: path !== null });
  const [round, setRound] = useState(0);
  const again = useCallback(() => setRound((count) => count + 1), []);
  useEffect(() => {
    if (path === null) return setState({ value: null, error: null, loading: false });
    const control = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    const stop = () => control.abort();
    const repeat = (wait: number) => void (wait && later(wait, again, control.signal));
    ask<T>(path, { signal: control.signal, token })
      .then(
        (value) => {
          setState({ value, error: null, loading: false });
          repeat(every);
        },
        (error: Error) => {
          if (control.signal.aborted) return;
          setState((before) => ({ ...before, error: error.message, loading: false }));
          repeat(error instanceof RestError && error.passing ? Math.min(every || TRY_AGAIN, TRY_AGAIN) : every);
        },
      );
    return stop;
  }, [path, round]);
  return { ...state, again };
}

/** Run after a delay in milliseconds; if the page is hidden then, when it becomes visible. */
export function later(milliseconds: number, act: () => void, stopped: AbortSignal): void {
  if (stopped.aborted) return;
  const timer = setTimeout(() => {
    if (!document.hidden) act();
    else document.addEventListener('visibilitychange', act, { once: true, signal: stopped });
  }, milliseconds);
  stopped.addEventListener('abort', () => clearTimeout(timer));
}
