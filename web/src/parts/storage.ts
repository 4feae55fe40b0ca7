/** What this browser keeps between visits. Where it may keep nothing (a private window, a file), nothing is kept. */

const PREFIX = 'botdrome.';

export function kept(key: string): string | null {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + key, value);
  } catch {
    // The page works without it.
  }
}

export function forget(key: string): void {
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // There was nothing to forget.
  }
}
