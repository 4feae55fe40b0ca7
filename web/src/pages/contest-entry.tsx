/** How to enter a contest: its rules, the lines for bots, and a form to enter or withdraw a bot. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DocumentedContest, Entry, ServerAddress } from '../api/types';
import { useRest } from '../api/use';
import { askFirst } from '../parts/ask-first';
import { whereOf } from '../parts/bring-a-bot';
import { CopyLine } from '../parts/copy-line';
import { change } from '../parts/doing';
import { contestPath } from '../parts/links';
import { documentOf, ENTER, entryRules, takesEntries } from './contest-words';

/** Folded once the contest takes no more bots: then it is for withdrawals only. */
export function EntrySection({ contest, changed }: { contest: DocumentedContest; changed: () => void }) {
  const open = takesEntries(contest);
  const box = useRef<HTMLElement>(null);
  useEffect(() => void (location.hash === ENTER && box.current?.scrollIntoView()), []);
  const words = <p>{entryRules(documentOf(contest)).join(' ')} {!open && (contest.state === 'draft' ? 'The organiser has not opened the contest yet.' : 'The contest takes no more bots.')}</p>;
  const body = (
    <div class="columns">
      {contest.state !== 'draft' && <EntryForm contest={contest} open={open} changed={changed} />}
      <div><h3>How bots play</h3><BotLines contest={contest} /></div>
    </div>
  );
  return (
    <section aria-label="How to enter" class="entry" ref={box}>
      {open ? <><h2>Enter a bot</h2>{words}{body}</> : <details open={contest.state === 'draft'}><summary>{contest.state === 'draft' ? 'Entry' : 'Entry and withdrawal'}</summary>{words}{body}</details>}
    </section>
  );
}

function EntryForm({ contest, open, changed }: { contest: DocumentedContest; open: boolean; changed: () => void }) {
  const [bot, setBot] = useState('');
  const [token, setToken] = useState('');
  const [password, setPassword] = useState('');
  const needed = documentOf(contest).entry?.kind === 'password';
  const at = contestPath(contest.game, contest.name);
  const enter = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!open) return withdraw();
    const body = { bot: bot.trim(), ...(needed && { password }) };
    if (await change<Entry>(at, { method: 'POST', body, token: token.trim() }, `${bot.trim()} is in the contest.`)) changed();
  };
  const withdraw = async () => {
    const words = 'It forfeits its open matches and plays no more in this contest. This cannot be undone.';
    if ((await askFirst({ title: `Withdraw ${bot.trim()}?`, words, action: 'Withdraw' })) === null) return;
    if (await change<Entry>(at, { method: 'DELETE', body: { bot: bot.trim() }, token: token.trim() }, `${bot.trim()} has withdrawn.`)) changed();
  };
  return (
    <form class="card token-form" aria-label={open ? 'Enter or withdraw a bot' : 'Withdraw a bot'} onSubmit={(event) => void enter(event)}>
      <label>Bot <input required value={bot} autoComplete="off" spellcheck={false} onInput={(event) => setBot(event.currentTarget.value)} /></label>
      <label>Its token <input type="password" required value={token} autoComplete="off" onInput={(event) => setToken(event.currentTarget.value)} /></label>
      {needed && open && <label>Password of the contest <input type="password" value={password} autoComplete="off" onInput={(event) => setPassword(event.currentTarget.value)} /></label>}
      <p class="actions">
        {open && <button type="submit" class="main">Enter</button>}
        <button type="button" disabled={!bot.trim() || !token.trim()} onClick={() => void withdraw()}>Withdraw</button>
      </p>
      <p class="quiet">The token is the password that came with the bot's registration.</p>
    </form>
  );
}

function BotLines({ contest: { game, name, document } }: { contest: DocumentedContest }) {
  const server = useRest<ServerAddress>('/server');
  const where = whereOf(server.value, location);
  const password = (document['entry'] as { kind?: string } | undefined)?.kind === 'password';
  const login = JSON.stringify({ gameType: game.toUpperCase().replaceAll('-', '_'), name: 'MyBot', password: 'TOKEN', contest: name });
  return (
    <ul class="steps">
      {password && <li>Enter the bot with the form first, since a login cannot carry the contest's password.</li>}
      <li>A bot in Python or any program: <CopyLine label="the command to join the contest" text={`botdrome join my_bot.py --contest ${quoted(name)} --server ${where.http}`} /></li>
      <li>Over the native protocol, every login {password ? 'names' : 'enters the bot and names'} the contest: <CopyLine label="the login with the contest" text={login} /></li>
      <li>Bots with a URL, and bots of other protocols: enter them with the form. The server calls them, or seats them when they connect.</li>
    </ul>
  );
}

/** For a shell, if it needs quotes. */
function quoted(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
