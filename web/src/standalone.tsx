/** The viewer in a file of its own, as `botdrome replay --html` writes it: the film is in the page, and there is no server. */
import { render } from 'preact';
import { ThemeSwitch } from './parts/theme-switch';
import type { Film } from './replay/film';
import { readFilm } from './replay/stored';
import { applyTheme } from './theme';
import { gameTitle } from './pages/rules';
import { Headline } from './viewer/result';
import { MatchViewer } from './viewer/viewer';
import { headingNames } from './viewer/words';

function Page({ film }: { film: Film }) {
  return (
    <main id="main">
      <header class="match-head">
        <h1>{headingNames(film.header).map((name, place) => [place ? ' – ' : '', <bdi key={place}>{name}</bdi>])} <ThemeSwitch /></h1>
        <p>{gameTitle(film.header.game)}</p>
        <Headline film={film} />
      </header>
      <MatchViewer film={film} step={wantedStep()} />
    </main>
  );
}

/** The `?step=` of the address. */
function wantedStep(): number | null {
  const step = Number(new URLSearchParams(location.search).get('step') ?? NaN);
  return Number.isInteger(step) && step >= 0 ? step : null;
}

applyTheme();
render(<Page film={readFilm(document.getElementById('film')?.textContent ?? '')} />, document.getElementById('app')!);
