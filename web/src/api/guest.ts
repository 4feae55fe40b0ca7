/** The guest of this browser: a name and a secret. */
import { keep, kept } from '../parts/storage';
import type { GuestAccount } from './player-state';

const SECRET_BYTES = 16;

/** Return the stored guest, or a new one. */
export function guestAccount(): GuestAccount {
  const secret = kept('guest-secret') ?? newSecret();
  keep('guest-secret', secret);
  return { name: kept('guest-name') ?? `Guest ${1000 + (parseInt(secret.slice(0, 6), 16) % 9000)}`, secret };
}

export function keepName(name: string): void {
  keep('guest-name', name);
}

/** In hexadecimal. */
export function newSecret(): string {
  return [...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A word for an invitation: short enough to be read out, long enough not to be guessed. */
export function newInvite(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => letters[byte % letters.length]).join('');
}
