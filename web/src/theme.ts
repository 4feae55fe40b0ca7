/** Light or dark: the system's choice until the user makes one, which this browser keeps. */
import { signal } from '@preact/signals';
import { kept, keep } from './parts/storage';

export type Theme = 'light' | 'dark';

const KEY = 'theme';

export const theme = signal<Theme>(chosen() ?? system());

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}

export function switchTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  keep(KEY, theme.value);
  applyTheme();
}

function chosen(): Theme | null {
  const value = kept(KEY);
  return value === 'light' || value === 'dark' ? value : null;
}

function system(): Theme {
  return globalThis.matchMedia?.('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'; // tests have no such function
}
