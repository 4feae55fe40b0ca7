/** The pages for organisers: signing in with the operator's token, and the parts after that. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ask, notSignedIn, RestError } from '../api/rest';
import type { SignedIn } from '../api/types';
import { own } from '../own';
import { Questions } from '../parts/ask-first';
import { hush, Notices } from '../parts/doing';
import { Problem } from '../parts/problem';
import type { Params } from '../router';
import { Audit } from './organise-audit';
import { Bans } from './organise-bans';
import { OrganiseClasses } from './organise-classes';
import { BoatRooms } from './organise-boats';
import { Clients } from './organise-clients';
import { OrganiseContests } from './organise-contests';
import { Battlecube } from './organise-cube';
import { RunningMatches } from './organise-matches';
import { Nodes } from './organise-nodes';
import { Overview } from './organise-overview';

const PARTS: Record<string, { title: string; Part: ComponentType }> = {
  '': { title: 'Overview', Part: Overview },
  clients: { title: 'Clients', Part: Clients },
  bans: { title: 'Bans', Part: Bans },
  contests: { title: 'Contests', Part: OrganiseContests },
  classes: { title: 'Classes', Part: OrganiseClasses },
  matches: { title: 'Running matches', Part: RunningMatches },
  battlecube: { title: 'Battlecube', Part: Battlecube },
  boats: { title: 'Boat rooms', Part: BoatRooms },
  nodes: { title: 'Nodes', Part: Nodes },
  audit: { title: 'Audit log', Part: Audit },
};

type Session = 'asking' | 'in' | 'out' | { failed: string };

export default function Organise({ params }: { params: Params }) {
  const [session, setSession] = useState<Session>('asking');
  const part = params['part'] ?? '';
  const shown = own(PARTS, part);
  const look = () => {
    setSession('asking');
    ask<SignedIn>('/operator/session').then(() => setSession('in'), (error: Error) => setSession(isRefusal(error) ? 'out' : { failed: error.message }));
  };
  useEffect(look, []);
  useEffect(hush, [part]);
  const over = session === 'in' && (notSignedIn.value ?? '').startsWith('/operator');
  useEffect(() => void (document.title = `${shown?.title ?? 'Organise'} · Botdrome`), [part]);
  if (session === 'asking') return <p class="quiet" role="status">Loading …</p>;
  if (typeof session === 'object') return <Problem words={session.failed} retry={look} />;
  if (session === 'out' || over) return <SignInForm over={over} done={() => setSession('in')} />;
  if (!shown) return <Problem words={`There is no page for organisers called ${part}.`} />;
  return <Signed part={part} out={() => setSession('out')} />;
}

function isRefusal(error: Error): boolean {
  return error instanceof RestError && error.status === 401;
}

function Signed({ part, out }: { part: string; out: () => void }) {
  const { title, Part } = PARTS[part]!;
  const signOut = () => void ask('/operator/session', { method: 'DELETE' }).then(out, out);
  return (
    <div class="organise">
      <div class="organise-head">
        <nav aria-label="For organisers">
          {Object.entries(PARTS).map(([name, { title: words }]) => (
            <a key={name} href={`/organise${name && `/${name}`}`} aria-current={name === part ? 'page' : undefined}>{words}</a>
          ))}
        </nav>
        <button type="button" onClick={signOut}>Sign out</button>
      </div>
      <h1>{title}</h1>
      <Notices />
      <Part />
      <Questions />
    </div>
  );
}

function SignInForm({ over, done }: { over: boolean; done: () => void }) {
  const [token, setToken] = useState('');
  const [words, setWords] = useState(over ? 'The session is over. Sign in again to go on.' : '');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const signedIn = () => {
      notSignedIn.value = null;
      done();
    };
    ask<SignedIn>('/operator/session', { method: 'POST', body: { token: token.trim() } }).then(signedIn, (error: Error) => setWords(error.message));
  };
  return (
    <div class="organise">
      <div class="sign-in card">
        <h1>For organisers</h1>
        <p>Sign in with the operator's token to see who is connected, run contests, end matches, start Battlecube games and host boat rooms.</p>
        {words && <p role="alert" class="notice failed">{words}</p>}
        <form onSubmit={submit}>
          <label class="field">Operator's token
            <input type="password" autoComplete="current-password" required value={token} onInput={(event) => setToken(event.currentTarget.value)} />
          </label>
          <p><button type="submit" class="main">Sign in</button></p>
        </form>
        <p class="quiet">The server printed the token when it first started, unless it is set as <code>operator_token</code>. If it is lost, <code>botdrome admin operator-token</code> on the server makes a new one.</p>
      </div>
    </div>
  );
}
