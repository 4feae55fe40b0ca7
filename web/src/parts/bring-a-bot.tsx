/** Bring a bot: the lines to begin with, for each protocol, with the addresses of this server. */
import type { ComponentChildren } from 'preact';
import type { ServerAddress } from '../api/types';
import { useRest } from '../api/use';
import { CopyLine } from './copy-line';
import { QrCode } from './qr-code';
import { Tabs, type Tab } from './tabs';

/** The server's address, for bots. */
interface Where {
  /** Without a slash at its end. */
  http: string;
  ws: string;
  host: string;
  ports: Record<string, number>;
}

export function BringABot({ game = 'noughts-and-crosses' }: { game?: string }) {
  const server = useRest<ServerAddress>('/server');
  const where = whereOf(server.value, location);
  const phone = server.value && phoneUrl(server.value, location);
  const tabs = tabsOf(where, game);
  if (server.value && server.value.uploads.allowed !== 'off') tabs.unshift({ title: 'Upload', panel: <ByUpload game={game} /> });
  return (
    <section class="bring" id="bring" aria-labelledby="bring-title">
      <div>
        <h2 id="bring-title">Bring a bot</h2>
        <p class="quiet">A bot is a program in any language. Choose how it talks to this server; all of them meet at the same tables. <a href="/docs/first-bot.html">Your first bot</a> begins at the beginning.</p>
        <Tabs key={game} label="Protocols" tabs={tabs} />
      </div>
      <figure class="join">
        {phone && <QrCode text={`${phone}/`} label={`A QR code of ${phone}/`} />}
        <figcaption>{phone ? <>Join from a phone<br /><a href={`${phone}/play`}>{phone.replace(/^https?:\/\//, '')}</a></> : server.value && 'Only this machine can open these pages. To join from a phone, start the server with an address of this machine as --host.'}</figcaption>
      </figure>
    </section>
  );
}

export function whereOf(server: ServerAddress | null, here: { origin: string; hostname: string }): Where {
  const http = server?.url ?? here.origin;
  return { http, ws: http.replace(/^http/, 'ws'), host: server?.url ? new URL(server.url).hostname : here.hostname, ports: server?.ports ?? {} };
}

/** The address that a phone can open; null: there is none. */
export function phoneUrl({ url, networkUrl }: Pick<ServerAddress, 'url' | 'networkUrl'>, here: { origin: string; hostname: string }): string | null {
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(here.hostname);
  return url ?? (isLocal ? networkUrl : here.origin);
}

function Steps({ children }: { children: ComponentChildren }) {
  return <ol class="steps">{children}</ol>;
}

function tabsOf(where: Where, game: string): Tab[] {
  const all: (Tab | false)[] = [
    { title: 'WebSocket', panel: <OverWebSocket where={where} game={game} /> },
    { title: 'HTTP', panel: <WithUrl where={where} game={game} /> },
    'duel' in where.ports && about(game, 'gomoku') && { title: 'Duel arena', panel: <OverDuel where={where} /> },
    'xbs' in where.ports && about(game, 'battleship') && { title: 'Boat Sinker', panel: <OverBoats where={where} /> },
    about(game, 'bomberman') && { title: 'Bomberman API', panel: <OverBomber where={where} /> },
    about(game, 'battlecube') && { title: 'socket.io', panel: <OverSocketIo where={where} /> },
  ];
  const tabs = all.filter((tab) => tab !== false);
  return game === 'noughts-and-crosses' ? tabs : [...tabs.slice(2), ...tabs.slice(0, 2)];
}

/** The front page shows all protocols, the page of a game only the protocols that play it. */
function about(game: string, one: string): boolean {
  return game === one || game === 'noughts-and-crosses';
}

function registration(where: Where, game: string, more = ''): string {
  return `curl ${where.http}/api/v1/bots -d '{"game": "${game}", "name": "MyBot", "owner": "me"${more}}'`;
}

function ByUpload({ game }: { game: string }) {
  return (
    <Steps>
      <li>Upload a file, or write one in Python. The server checks it and lets it play, also while your machine is off. <p class="actions"><a class="button main" href={`/upload?game=${game}`}>Upload a bot</a></p></li>
      <li>The same from a terminal: <CopyLine label="the commands to upload" text={`botdrome new ${game} my_bot\nbotdrome push my_bot --server ${location.origin}`} /></li>
    </Steps>
  );
}

function OverWebSocket({ where, game }: { where: Where; game: string }) {
  const login = `{"gameType": "${game.toUpperCase().replaceAll('-', '_')}", "name": "MyBot", "password": "PASSWORD"}`;
  return (
    <Steps>
      <li>Register the bot once, and keep the password of the answer. <CopyLine label="the registration" text={registration(where, game)} /></li>
      <li>Connect to this address with any WebSocket library. <CopyLine label="the address for WebSockets" text={`${where.ws}/`} /></li>
      <li>Send the login as the first message; then answer whenever <code>waitingFor</code> names your bot. <CopyLine label="the login" text={login} /></li>
    </Steps>
  );
}

function WithUrl({ where, game }: { where: Where; game: string }) {
  return (
    <Steps>
      <li>Run a small HTTP server that answers each POST with a move, and register it with its URL. The server calls it with a challenge at once.
        <CopyLine label="the registration with a URL" text={registration(where, game, ', "url": "http://127.0.0.1:8080/"')} /></li>
      <li>Behind a firewall, register it without a URL and let this command carry the calls.
        <CopyLine label="the command that carries calls" text={`botdrome connect MyBot --server ${where.http} --local http://127.0.0.1:8080/ --token PASSWORD`} /></li>
    </Steps>
  );
}

function OverDuel({ where }: { where: Where }) {
  return (
    <Steps>
      <li>Connect by TCP; each message is JSON after four bytes with its length. <CopyLine label="the address of duel arena" text={`${where.host}:${where.ports['duel']}`} /></li>
      <li>Log in, and ask for an opponent. Nothing needs to be registered. <CopyLine label="the login of duel arena" text={'{"username": "my.name"}\n{"event": "find_opponent"}'} /></li>
    </Steps>
  );
}

function OverBoats({ where }: { where: Where }) {
  const port = where.ports['xbs'];
  return (
    <Steps>
      <li>A person plays in the terminal. <CopyLine label="the command to play" text={`botdrome boats play --host ${where.host} --port ${port} --user me`} /></li>
      <li>A bot connects by TCP and speaks lines. <CopyLine label="the address for boats" text={`nc ${where.host} ${port}`} /></li>
    </Steps>
  );
}

function OverBomber({ where }: { where: Where }) {
  return (
    <Steps>
      <li>Register; the answer has a secret <code>user_id</code>. <CopyLine label="the registration for Bomberman" text={`curl ${where.http}/bomber/rest/register/MyBot -d '{"password": "SECRET"}'`} /></li>
      <li>Ask for the state, which waits for the next round. <CopyLine label="the question for the state" text={`curl '${where.http}/bomber/rest/state/USER_ID?after=0'`} /></li>
      <li>Act. <CopyLine label="an action" text={`curl ${where.http}/bomber/rest/action/USER_ID -d '{"action": "MOVE_UP"}'`} /></li>
    </Steps>
  );
}

function OverSocketIo({ where }: { where: Where }) {
  return (
    <Steps>
      <li>Organisers start Battlecube games with any client of socket.io, 2.x to 4.x; the bots are HTTP services that the server calls. <CopyLine label="the address for socket.io" text={`${where.http}/`} /></li>
    </Steps>
  );
}
