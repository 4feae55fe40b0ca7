/** The uploaded versions of a bot, and what its author does with them. */
import { useState } from 'preact/hooks';
import { ask } from '../api/rest';
import type { Upload, Uploads } from '../api/types';
import { keptOwner } from '../pages/class-owner';
import { askFirst, Questions } from './ask-first';
import { Moment } from './moment';
import { tokenOf } from './token';

/** The token that this browser has for a bot: its own, or that of the participant that owns it; '': none. */
export function authorToken(bot: string, owner: string): string {
  const kept = keptOwner();
  return tokenOf(bot) ?? (kept && `${kept.name} @ ${kept.class}` === owner ? kept.token : '');
}

export function uploadsPath(bot: string): string {
  return `/uploads/${encodeURIComponent(bot)}`;
}

/** What a version does at present. */
export function doing(one: Upload): string {
  if (one.state === 'waiting') return one.runner ? `is checked by ${one.runner}` : 'waits for a runner that checks it';
  if (!one.active) return one.state;
  if (one.paused) return 'paused';
  return one.runner ? `plays on ${one.runner}` : 'plays when a runner is free';
}

interface Props {
  bot: string;
  token: string;
  uploads: readonly Upload[];
  changed: () => void;
}

export function VersionList({ bot, token, uploads, changed }: Props) {
  const [words, setWords] = useState('');
  const order = (method: 'PUT' | 'DELETE', body: object) =>
    ask<Uploads>(uploadsPath(bot), { method, body, token }).then(() => (setWords(''), changed()), (error: Error) => setWords(error.message));
  const remove = async (one: Upload) => {
    const question = { title: `Delete version ${one.number}?`, words: 'Its files are deleted, and it plays no more. This cannot be undone.', action: 'Delete' };
    if ((await askFirst(question)) !== null) await order('DELETE', { number: one.number });
  };
  return (
    <>
      <Questions />
      {words && <p role="alert" class="notice failed">{words}</p>}
      <ul class="lines versions">
        {uploads.map((one) => (
          <li key={one.number}>
            <span>Version {one.number}, <bdi>{one.version}</bdi>: <strong class={one.state === 'rejected' ? 'bad' : undefined}>{doing(one)}</strong> · <Moment at={one.uploaded} /></span>
            <span class="actions">
              {one.active && <button type="button" aria-label={`${one.paused ? 'Resume' : 'Pause'} version ${one.number}`} onClick={() => void order('PUT', { paused: !one.paused })}>{one.paused ? 'Resume' : 'Pause'}</button>}
              {!one.active && one.state === 'accepted' && <button type="button" aria-label={`Let it play: version ${one.number}`} onClick={() => void order('PUT', { active: one.number })}>Let it play</button>}
              <button type="button" aria-label={`Delete version ${one.number}`} onClick={() => void remove(one)}>Delete</button>
            </span>
            {(one.paused || one.report) && <details><summary>{one.paused ? 'Why' : 'Report'}</summary><pre>{one.paused || one.report}</pre></details>}
          </li>
        ))}
      </ul>
    </>
  );
}
