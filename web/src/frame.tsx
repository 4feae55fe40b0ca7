/** The frame around all pages: navigation, the page, and what is said when there is none. */
import { useEffect, useState } from 'preact/hooks';
import { EMBED, find, go, path, type Found, type Page } from './router';
import { TRY_AGAIN } from './api/rest';
import { later } from './api/use';
import { Problem } from './parts/problem';
import { ThemeSwitch } from './parts/theme-switch';

const LINKS = [
  ['/play', 'Play'],
  ['/games', 'Games'],
  ['/matches', 'Matches'],
  ['/bots', 'Bots'],
  ['/contests', 'Contests'],
  ['/tv', 'TV'],
] as const;
const MORE = [
  ['/docs/', 'Documentation'],
  ['/open', 'Open a match file'],
  ['/duel', 'Duel arena'],
  ['/history', 'Boards of duel arena'],
  ['/join-class', 'Join a class'],
  ['/organise', 'For organisers'],
  ['/api/v1/docs', 'REST'],
  ['/graphql', 'GraphQL'],
] as const;

export function Frame() {
  const shown = path.value;
  if (shown.startsWith(EMBED) || shown === '/tv') return <Main shown={shown} />;
  return (
    <>
      <a class="skip" href="#main">Skip to the content</a>
      <header class="top">
        <a class="brand" href="/">Botdrome</a>
        <nav aria-label="Pages">
          {LINKS.map(([to, words]) => (
            <a key={to} href={to} aria-current={shown.startsWith(to) ? 'page' : undefined}>{words}</a>
          ))}
        </nav>
        <form class="top-search" role="search" action="/search" onSubmit={search}>
          <input type="search" name="q" placeholder="Search" aria-label="Search for bots, contests and matches" maxLength={100} />
        </form>
        <ThemeSwitch />
      </header>
      <Main shown={shown} />
      <footer class="bottom">
        <nav aria-label="More">{MORE.map(([to, words]) => <a key={to} href={to}>{words}</a>)}</nav>
      </footer>
    </>
  );
}

function search(event: Event): void {
  event.preventDefault();
  const wanted = String(new FormData(event.currentTarget as HTMLFormElement).get('q') ?? '').trim();
  if (wanted) go(`/search?q=${encodeURIComponent(wanted)}`);
}

function Main({ shown }: { shown: string }) {
  const found = find(shown);
  return (
    <main id="main" class={shown === '/tv' ? 'whole' : undefined} tabIndex={-1}>
      {found ? <Loaded key={shown} found={found} /> : <Problem words={`There is no page at ${shown}.`} />}
    </main>
  );
}

/** A page whose chunk may still be on its way. */
function Loaded({ found }: { found: Found }) {
  const [page, setPage] = useState<{ Page: Page } | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let wanted = true;
    const show = (Page: Page) => wanted && setPage({ Page });
    found.load().then((loaded) => show(loaded.default), () => wanted && setFailed(true));
    return () => void (wanted = false);
  }, []);
  useEffect(() => (failed ? reloadOnceThere() : undefined), [failed]);
  if (failed) return <Problem words="The page could not be loaded. It comes back by itself when the server does." retry={() => location.reload()} />;
  return page ? <page.Page params={found.params} /> : <p class="quiet" role="status">Loading …</p>;
}

/** Load the page anew as soon as the server answers, once it is visible. The returned function stops that. */
function reloadOnceThere(): () => void {
  const control = new AbortController();
  const look = () => void fetch(location.href, { method: 'HEAD' }).then(({ status }) => status < 500, () => false).then((there) => (there && !control.signal.aborted ? location.reload() : wait()));
  const wait = () => later(TRY_AGAIN, look, control.signal);
  wait();
  return () => control.abort();
}
