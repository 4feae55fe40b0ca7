/** The participant of a class whose token this browser keeps. */
import { forget, keep, kept } from '../parts/storage';

export interface KeptOwner {
  class: string;
  name: string;
  token: string;
}

const KEY = 'owner';

export function keptOwner(): KeptOwner | null {
  return readOwner(kept(KEY));
}

export function keepOwner({ class: of, name, token }: KeptOwner): void {
  keep(KEY, JSON.stringify({ class: of, name, token }));
}

export function forgetOwner(): void {
  forget(KEY);
}

/** null: there is none, or something else wrote it. */
export function readOwner(text: string | null): KeptOwner | null {
  try {
    const found = JSON.parse(text ?? 'null') as Partial<KeptOwner> | null;
    const { class: of, name, token } = found ?? {};
    return typeof of === 'string' && typeof name === 'string' && typeof token === 'string' ? { class: of, name, token } : null;
  } catch {
    return null;
  }
}
