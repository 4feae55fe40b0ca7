/** Shared parts of the boards that people play on: signs of players, keys, and buttons. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { colourOf, signOf } from './renderer';

/** The colour and the sign of a player, before its name. */
export function SeatSign({ player }: { player: number }) {
  return <span class="seat-sign" style={{ borderColor: colourOf(player) }} aria-hidden="true">{signOf(player)}</span>;
}

/** Calls `press` for keys anywhere on the page, unless they are typed into a field or have another meaning there. */
export function useKeys(active: boolean, press: (event: KeyboardEvent) => boolean): void {
  const latest = useRef(press);
  latest.current = press;
  useLayoutEffect(() => {
    if (!active) return undefined;
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || hasOtherUse(event)) return;
      if (latest.current(event)) event.preventDefault();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [active]);
}

function hasOtherUse({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches('input, select, textarea, dialog *')) return true;
  return (key === ' ' || key === 'Enter') && target.matches('button, a, summary');
}

export interface PadButtonProps {
  label: string;
  /** Where it is on the pad: the name of a grid area. */
  area: string;
  keys: string;
  disabled?: boolean;
  pressed?: boolean;
  press: () => void;
  children: ComponentChildren;
}

/** A button of the pad. A click leaves the focus where it was, so that keys go on working. */
export function PadButton({ label, area, keys, disabled = false, pressed = false, press, children }: PadButtonProps) {
  return (
    <button
      type="button" class="pad-button" style={{ gridArea: area }} aria-label={label} title={`${label} (${keys})`}
      aria-pressed={pressed} disabled={disabled} onMouseDown={(event) => event.preventDefault()} onClick={press}
    >
      {children}
    </button>
  );
}
