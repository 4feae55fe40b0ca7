/** Bring a bot: upload a file, or write one in Python. The server checks it and lets it play. */
import { useEffect, useState } from 'preact/hooks';
import { ask } from '../api/rest';
import type { Games, ParticipantShown, RegisteredBot, ServerAddress, UploadAdded, UploadLimits, Uploads, UploadsTaken } from '../api/types';
import { useRest } from '../api/use';
import { BringABot } from '../parts/bring-a-bot';
import { CopyLine } from '../parts/copy-line';
import { BotLink } from '../parts/links';
import { archiveOf, isArchive, refusal } from '../parts/pack';
import { Problem } from '../parts/problem';
import { PythonEditor } from '../parts/python-editor';
import { Tabs } from '../parts/tabs';
import { keepToken } from '../parts/token';
import { authorToken, doing, uploadsPath, VersionList } from '../parts/uploads';
import { query } from '../router';
import { keptOwner, type KeptOwner } from './class-owner';
import { exampleBot } from './examples';
import { gameTitle } from './rules';

const NEW = ' new';
const OTHER = ' other';
/** Milliseconds between two looks at a check, and at versions that need none. */
const CHECKING = 1000;
const EVERY = 10_000;

export default function UploadPage() {
  const server = useRest<ServerAddress>('/server');
  const owner = keptOwner();
  const mine = useRest<ParticipantShown>(owner && '/participant', 0, null, owner?.token);
  useEffect(() => void (document.title = 'Bring a bot · Botdrome'), []);
  if (!server.value || (owner && mine.loading && !mine.value)) return server.error ? <Problem words={server.error} retry={server.again} /> : <p class="quiet" role="status">Loading …</p>;
  const { uploads } = server.value;
  if (uploads.allowed === 'off') return <><h1>Bring a bot</h1><p>This server takes no uploads: your bot plays from your own machine, and connects by one of these protocols.</p><BringABot game={query.value.get('game') ?? 'noughts-and-crosses'} /></>;
  return <Bring taken={uploads} owner={mine.value && owner} bots={mine.value?.bots ?? []} />;
}

interface Chosen {
  bot: string;
  game: string;
  token: string;
}

type Bots = ParticipantShown['bots'];

function Bring({ taken, owner, bots }: { taken: UploadsTaken; owner: KeptOwner | null; bots: Bots }) {
  const wanted = query.value.get('bot');
  const mayRegister = owner !== null || taken.allowed === 'everybody';
  const [which, setWhich] = useState(() => bots.find(({ name }) => name === wanted)?.name ?? (wanted || !mayRegister ? OTHER : (bots[0]?.name ?? NEW)));
  const [name, setName] = useState(wanted ?? '');
  const [password, setPassword] = useState(() => (wanted && authorToken(wanted, '')) || '');
  const [game, setGame] = useState(query.value.get('game') ?? 'noughts-and-crosses');
  const [file, setFile] = useState<File | null>(null);
  const [text, setText] = useState<string | null>(null);
  const [writes, setWrites] = useState(false);
  const [words, setWords] = useState('');
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<RegisteredBot | null>(null);
  const [sent, setSent] = useState<(UploadAdded & { token: string }) | null>(null);
  const known = bots.find((bot) => bot.name === which);
  const code = text ?? exampleBot(known?.game ?? game) ?? '';

  const chosen = async (): Promise<Chosen> => {
    if (known && owner) return { bot: known.name, game: known.game, token: owner.token };
    if (made?.bot.name === name.trim()) return { bot: made.bot.name, game: made.bot.game, token: made.password };
    if (which === OTHER) return { bot: name.trim(), game, token: password.trim() };
    const bot = await ask<RegisteredBot>('/bots', { method: 'POST', body: { game, name: name.trim() }, ...(owner && { token: owner.token }) });
    keepToken(bot.bot.name, bot.password);
    setMade(bot);
    return { bot: bot.bot.name, game, token: bot.password };
  };
  const upload = async () => {
    const source = writes ? new File([code], 'bot.py') : file;
    if (!source) throw new Error('Choose a file first, or write a bot in Python.');
    const problem = refusal(source.name, source.size, taken.limits);
    if (problem) throw new Error(writes && source.size === 0 ? 'Write a bot first: the editor is empty.' : problem);
    const archive = isArchive(source.name) ? source : archiveOf('bot.py', new Uint8Array(await source.arrayBuffer()));
    const { bot, token } = await chosen();
    if (token !== owner?.token) keepToken(bot, token);
    setSent({ ...(await ask<UploadAdded>(uploadsPath(bot), { method: 'POST', file: archive, token })), token });
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setWords('');
    upload().catch((error: Error) => setWords(error.message)).finally(() => setBusy(false));
  };
  return (
    <div class="upload">
      <h1>Bring a bot</h1>
      <p>The server runs your bot, also while your machine is off: upload it, the server checks it, and if it is accepted it plays on the ladder. <a href="/docs/push-your-bot.html">Push your bot</a> says more; <code>botdrome push</code> does the same from a terminal. Bots can also <a href="/#bring">connect from your machine</a>.</p>
      {taken.allowed === 'invited' && !owner && <p class="notice">Uploads are for participants of a class, and for bots that the operator of this server has invited. <a href="/join-class">Join a class</a> by the code of your organiser.</p>}
      <form class="upload-form" onSubmit={submit}>
        <fieldset>
          <legend>Your bot</legend>
          <label>Bot <select value={which} onChange={(event) => setWhich(event.currentTarget.value)}>
            {bots.map((bot) => <option key={bot.name} value={bot.name}>{bot.name}</option>)}
            {mayRegister && <option value={NEW}>A new bot</option>}
            <option value={OTHER}>A registered bot, by its password</option>
          </select></label>
          {!known && <label>Name <input required maxLength={64} autoComplete="off" spellcheck={false} value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>}
          {which === NEW && <GameChoice game={game} setGame={setGame} />}
          {which === OTHER && <label>Password <input required type="password" autoComplete="off" value={password} onInput={(event) => setPassword(event.currentTarget.value)} /></label>}
        </fieldset>
        <Tabs label="What to upload" chose={(at) => setWrites(at === 1)} tabs={[
          { title: 'A file', panel: <FileField file={file} setFile={setFile} setWords={setWords} /> },
          { title: 'Write Python', panel: <PythonEditor label="Your bot in Python" value={code} change={setText} /> },
        ]} />
        <p class="quiet"><Limits limits={taken.limits} daily={taken.daily} /></p>
        {words && <p role="alert" class="notice failed">{words}</p>}
        <p><button type="submit" class="main" disabled={busy}>{busy ? 'Uploading …' : 'Upload and check'}</button></p>
      </form>
      {made && <div class="card"><p><bdi>{made.bot.name}</bdi> is registered. Its password is shown only now; keep it.</p><CopyLine label="the password of the bot" text={made.password} /></div>}
      {sent && <Check key={`${sent.bot} ${sent.number}`} sent={sent} />}
    </div>
  );
}

function GameChoice({ game, setGame }: { game: string; setGame: (game: string) => void }) {
  const games = useRest<Games>('/games').value?.games.map((one) => one.name) ?? [game];
  return <label>Game <select value={game} onChange={(event) => setGame(event.currentTarget.value)}>{games.map((one) => <option key={one} value={one}>{gameTitle(one)}</option>)}</select></label>;
}

function Limits({ limits: { packed, unpacked, files }, daily }: { limits: UploadLimits; daily: number }) {
  return <>At most {megabytes(packed)} packed, {megabytes(unpacked)} unpacked and {files.toLocaleString()} files; {daily.toLocaleString()} uploads within 24 hours. A bot has one core and no network.</>;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toLocaleString(undefined, { maximumFractionDigits: 3 })} MiB`;
}

interface FileProps {
  file: File | null;
  setFile: (file: File | null) => void;
  setWords: (words: string) => void;
}

function FileField({ file, setFile, setWords }: FileProps) {
  const [over, setOver] = useState(false);
  const choose = (files: FileList | null | undefined, folder = false) => {
    setOver(false);
    const one = files?.length === 1 && !folder ? files[0]! : null;
    setFile(one);
    setWords(one || !files?.length ? '' : 'Drop one file. Pack a project of several files with its bot.toml as a zip archive.');
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation(); // the pages take other files for matches
    const items = [...(event.dataTransfer?.items ?? [])];
    choose(event.dataTransfer?.files, items.some((item) => item.webkitGetAsEntry()?.isDirectory));
  };
  const drag = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(true);
  };
  return (
    <div class={over ? 'upload-file over' : 'upload-file'} onDragOver={drag} onDragLeave={() => setOver(false)} onDrop={drop}>
      <label>Drop a file here, or choose one: a bot in Python (.py), or a project with its bot.toml as a zip archive (.zip)
        <input type="file" accept=".py,.zip" onChange={(event) => choose(event.currentTarget.files)} /></label>
      <p class="quiet" role="status">{file ? <>To be sent: <bdi>{file.name}</bdi>, {file.size.toLocaleString()} bytes</> : 'No file is chosen.'}</p>
    </div>
  );
}

/** An upload that was sent: its check as it goes on, and all versions of the bot. */
function Check({ sent: { bot, number, token, files } }: { sent: UploadAdded & { token: string } }) {
  const [waits, setWaits] = useState(true);
  const { value, error, again } = useRest<Uploads>(uploadsPath(bot), waits ? CHECKING : EVERY, null, token);
  const one = value?.uploads.find((upload) => upload.number === number);
  const state = one?.state ?? 'waiting';
  useEffect(() => setWaits(state === 'waiting'), [state]);
  return (
    <section class="card" aria-label="Check">
      <h2><BotLink name={bot} />, version {number}</h2>
      <p>Sent: {Object.entries(files).map(([file, size], at) => <span key={file}>{at > 0 && '; '}<bdi>{file}</bdi>, {size.toLocaleString()} bytes</span>)}</p>
      {error && <Problem words={error} retry={again} />}
      <p role="status"><strong>{state === 'accepted' ? 'Accepted: it plays from its next match on.' : state === 'rejected' ? 'Rejected: it never plays. An earlier version that was accepted goes on.' : state === 'deleted' ? 'Deleted.' : one ? `It ${doing(one)}.` : 'Uploaded.'}</strong></p>
      {one?.report && <pre class="report">{one.report}</pre>}
      {value && <><h3>Versions</h3><VersionList bot={bot} token={token} uploads={value.uploads} changed={again} /></>}
    </section>
  );
}
