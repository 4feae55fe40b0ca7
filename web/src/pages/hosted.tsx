/** For the author of a hosted bot: its versions, and what it wrote in its last matches, those that it failed in first. */
import { useState } from 'preact/hooks';
import type { LogShown, LogsShown, Uploads } from '../api/types';
import { useRest } from '../api/use';
import { MatchLink } from '../parts/links';
import { Moment } from '../parts/moment';
import { Problem } from '../parts/problem';
import { TokenForm, useToken } from '../parts/token';
import { authorToken, uploadsPath, VersionList } from '../parts/uploads';

/** Logs that are shown at first. */
const FIRST = 8;

export function HostedSection({ name, owner }: { name: string; owner: string }) {
  const [given, setToken] = useToken(name);
  const [refused, setRefused] = useState(false);
  const token = given || (refused ? '' : authorToken(name, owner));
  const [open, setOpen] = useState(token !== '');
  const refuse = () => {
    setToken('');
    setRefused(true);
  };
  if (!open) return <p><button type="button" onClick={() => setOpen(true)}>Versions and logs, for its author</button></p>;
  return (
    <section aria-label="For its author">
      <h2>For its author</h2>
      {token ? <Hosted name={name} token={token} refuse={refuse} /> : <TokenForm bot={name} words="Open the logs" give={setToken} />}
    </section>
  );
}

function Hosted({ name, token, refuse }: { name: string; token: string; refuse: () => void }) {
  const path = encodeURIComponent(name);
  const versions = useRest<Uploads>(uploadsPath(name), 10_000, null, token);
  const logs = useRest<LogsShown>(`/upload-logs/${path}`, 10_000, null, token);
  const error = versions.error ?? logs.error;
  if (error) return <><Problem words={error} /><p><button type="button" onClick={refuse}>Use another password</button></p></>;
  if (!versions.value || !logs.value) return <p class="quiet for-author" role="status">Loading …</p>;
  if (versions.value.uploads.length === 0) return <p>No version is uploaded. <a href={`/upload?bot=${path}`}>Upload one</a>, also with <code>botdrome push</code>.</p>;
  const { uploads } = versions.value;
  const failed = logs.value.logs.filter((one) => one.fault);
  const sorted = [...failed, ...logs.value.logs.filter((one) => !one.fault)];
  return (
    <div class="columns for-author">
      <div>
        <h3>Versions</h3>
        <VersionList bot={name} token={token} uploads={uploads} changed={versions.again} />
        <p><a class="button" href={`/upload?bot=${path}`}>Upload another version</a></p>
      </div>
      <div>
        <h3>Logs of its last matches, failures first</h3>
        {sorted.length === 0 ? <p class="quiet">None yet.</p> : <LogList logs={sorted.slice(0, FIRST)} />}
        {sorted.length > FIRST && <details><summary>{sorted.length - FIRST} more</summary><LogList logs={sorted.slice(FIRST)} /></details>}
      </div>
    </div>
  );
}

function LogList({ logs }: { logs: readonly LogShown[] }) {
  return (
    <ul class="lines">
      {logs.map((one) => (
        <li key={one.match}><MatchLink id={one.match}>Replay</MatchLink> · <bdi>{one.version}</bdi> · <Moment at={one.written} />{one.fault && <strong class="bad"> failed: {one.fault.split('\n')[0]}</strong>}
          {(one.fault || one.log) && <details><summary>Log</summary><pre class="report">{[one.fault, one.log].filter(Boolean).join('\n')}</pre></details>}</li>
      ))}
    </ul>
  );
}
