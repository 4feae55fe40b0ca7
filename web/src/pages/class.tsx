/** A participant of a class: its bots, a new one, and their last matches. */
import { useEffect, useState } from 'preact/hooks';
import { ask, RestError, TRY_AGAIN } from '../api/rest';
import type { Games, ParticipantShown, RegisteredBot, ServerAddress } from '../api/types';
import { later, useRest } from '../api/use';
import { whereOf } from '../parts/bring-a-bot';
import { ClassResults } from '../parts/class-results';
import { CopyLine } from '../parts/copy-line';
import { BotLink, GameLink } from '../parts/links';
import { Problem } from '../parts/problem';
import { forgetOwner, keptOwner, type KeptOwner } from './class-owner';
import { gameTitle } from './rules';

const FORBIDDEN = 403;
/** Milliseconds between two looks at the bots and matches. */
const EVERY = 15_000;

export default function ClassPage() {
  const [owner, setOwner] = useState(keptOwner);
  useEffect(() => void (document.title = 'My bots · Botdrome'), []);
  const leave = () => {
    forgetOwner();
    setOwner(null);
  };
  return owner ? <Mine owner={owner} leave={leave} /> : <><h1>My bots</h1><p>This browser is in no class. <a href="/join-class">Join a class</a> by the code of your organiser.</p></>;
}

function Mine({ owner, leave }: { owner: KeptOwner; leave: () => void }) {
  const { value, error, again } = useParticipant(owner.token);
  const server = useRest<ServerAddress>('/server').value;
  const uploads = server !== null && server.uploads.allowed !== 'off';
  if (error?.status === FORBIDDEN) return <><h1>My bots</h1><p role="alert"><bdi>{owner.name}</bdi> is no longer in the class <bdi>{owner.class}</bdi>.</p><p><button type="button" onClick={leave}>Forget it</button></p></>;
  if (!value) return error ? <Problem words={error.message} retry={again} /> : <p class="quiet" role="status">Loading …</p>;
  return (
    <>
      <h1>My bots</h1>
      <p>You are <strong><bdi>{value.name}</bdi></strong> in the class <strong><bdi>{value.class}</bdi></strong>.</p>
      {value.bots.length ? <ul>{value.bots.map(({ name, game }) => <li key={name}><BotLink name={name} />, <GameLink game={game} />{uploads && <>: <a href={`/upload?bot=${encodeURIComponent(name)}`}>upload a version</a></>}</li>)}</ul> : <p class="quiet">You have no bot yet.</p>}
      {uploads && !value.closed && <p><a class="button main" href="/upload">Upload a bot</a></p>}
      {value.closed ? <p>The class is closed. Your bots play on.</p> : <NewBot token={owner.token} done={again} />}
      <h2>Last matches</h2>
      <ClassResults results={value.results} empty="Your bots have not played yet." />
      <p class="quiet">On a shared computer: <button type="button" onClick={leave}>Forget me on this browser</button> You need a new name and your organiser to come back.</p>
    </>
  );
}

interface Participation {
  value: ParticipantShown | null;
  error: RestError | null;
  again: () => void;
}

function useParticipant(token: string): Participation {
  const [state, setState] = useState<Omit<Participation, 'again'>>({ value: null, error: null });
  const [round, setRound] = useState(0);
  const again = () => setRound((count) => count + 1);
  useEffect(() => {
    const control = new AbortController();
    const repeat = (wait: number) => later(wait, again, control.signal);
    ask<ParticipantShown>('/participant', { token, signal: control.signal }).then(
      (value) => {
        setState({ value, error: null });
        repeat(EVERY);
      },
      (error: RestError) => {
        if (control.signal.aborted) return;
        setState((before) => ({ ...before, error }));
        if (error.passing) repeat(TRY_AGAIN);
      },
    );
    return () => control.abort();
  }, [token, round]);
  return { ...state, again };
}

function NewBot({ token, done }: { token: string; done: () => void }) {
  const games = useRest<Games>('/games');
  const server = useRest<ServerAddress>('/server');
  const [game, setGame] = useState('noughts-and-crosses');
  const [name, setName] = useState('');
  const [words, setWords] = useState('');
  const [made, setMade] = useState<RegisteredBot | null>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const registered = (bot: RegisteredBot) => {
      setMade(bot);
      setWords('');
      setName('');
      done();
    };
    ask<RegisteredBot>('/bots', { method: 'POST', body: { game, name: name.trim() }, token }).then(registered, (error: Error) => setWords(error.message));
  };
  return (
    <section class="card" aria-label="New bot">
      <h2>Register a bot</h2>
      {words && <p role="alert" class="notice failed">{words}</p>}
      <form class="token-form" onSubmit={submit}>
        <label>Game <select value={game} onChange={(event) => setGame(event.currentTarget.value)}>{(games.value?.games ?? []).map((one) => <option key={one.name} value={one.name}>{gameTitle(one.name)}</option>)}</select></label>
        <label>Name of the bot <input required maxLength={64} value={name} autoComplete="off" onInput={(event) => setName(event.currentTarget.value)} /></label>
        <p><button type="submit" class="main">Register</button></p>
      </form>
      {made && (
        <div role="status">
          <p><bdi>{made.bot.name}</bdi> is yours. Its password is shown only now; keep it.</p>
          <CopyLine label="the password of the bot" text={made.password} />
          <p>Let it play:</p>
          <CopyLine label="the command to let it play" text={`botdrome join ${made.bot.game} my_bot.py --name '${made.bot.name.replaceAll("'", "'\\''")}' --token ${made.password} --server ${whereOf(server.value, location).http}`} />
        </div>
      )}
    </section>
  );
}
