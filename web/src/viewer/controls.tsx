/** The buttons under the board. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icons';
import { SPEEDS, type Playback, type Speed } from './playback';

interface ButtonProps {
  icon: IconName;
  words: string;
  onClick: () => void;
  disabled?: boolean;
  class?: string;
}

export function IconButton({ icon, words, onClick, disabled = false, class: name = '' }: ButtonProps) {
  return (
    <button type="button" class={`icon-button ${name}`} aria-label={words} title={words} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

export function Controls({ playback, length, children }: { playback: Playback; length: number; children?: ComponentChildren }) {
  const index = playback.index.value;
  const runs = playback.playing.value || playback.following.value;
  const atEnd = index >= length - 1;
  return (
    <div class="controls" role="toolbar" aria-label="Playback">
      <div class="controls-main">
        <IconButton icon="start" words="To the start" disabled={index === 0} onClick={() => playback.seek(0)} />
        <IconButton icon="back" words="One step back" disabled={index === 0} onClick={() => playback.step(-1)} />
        <IconButton icon={runs ? 'pause' : 'play'} words={runs ? 'Pause' : 'Play'} class="play" onClick={() => playback.toggle()} />
        <IconButton icon="forward" words="One step on" disabled={atEnd} onClick={() => playback.step(1)} />
        <IconButton icon="end" words="To the end" disabled={atEnd} onClick={() => playback.toLive()} />
      </div>
      <SpeedChoice playback={playback} />
      <div class="controls-more">{children}</div>
    </div>
  );
}

function SpeedChoice({ playback }: { playback: Playback }) {
  const choose = (value: string) => (playback.speed.value = value === 'real' ? 'real' : Number(value));
  return (
    <select class="speed" aria-label="Speed" value={String(playback.speed.value)} onChange={(event) => choose(event.currentTarget.value)}>
      {[...SPEEDS, 'real' as const].map((speed) => (
        <option key={speed} value={String(speed)}>{speedInWords(speed)}</option>
      ))}
    </select>
  );
}

function speedInWords(speed: Speed): string {
  return speed === 'real' ? 'Real time' : `${speed}×`;
}
