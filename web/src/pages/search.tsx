/** Search for bots, players, contests and matches by the beginning of their names or ids. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { queryOf } from '../api/rest';
import type { SearchResult } from '../api/types';
import { useRest } from '../api/use';
import { BotLink, ContestLink, MatchLink } from '../parts/links';
import { Problem } from '../parts/problem';
import { go, query } from '../router';
import { gameTitle } from './rules';

export default function SearchPage() {
  const wanted = (query.value.get('q') ?? '').trim();
  const reading = useRest<SearchResult>(wanted ? `/search${queryOf({ q: wanted })}` : null);
  useEffect(() => void (document.title = `${wanted ? `${wanted} · ` : ''}Search · Botdrome`), [wanted]);
  return (
    <>
      <h1>Search</h1>
      <SearchForm key={wanted} wanted={wanted} />
      {reading.error && <Problem words={reading.error} retry={reading.again} />}
      {reading.loading && <p class="quiet" role="status">Searching …</p>}
      {wanted && reading.value && !reading.loading && <Found found={reading.value} wanted={wanted} />}
      {!wanted && <p class="quiet">Type how a name begins, or the first characters of the id of a match.</p>}
    </>
  );
}

function SearchForm({ wanted }: { wanted: string }) {
  const [text, setText] = useState(wanted);
  const submit = (event: Event) => {
    event.preventDefault();
    go(`/search${queryOf({ q: text.trim() })}`);
  };
  return (
    <form class="search-form" onSubmit={submit}>
      <input type="search" aria-label="How a name or an id begins" value={text} maxLength={100} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" class="main">Search</button>
    </form>
  );
}

function Found({ found: { bots, players, contests, matches }, wanted }: { found: SearchResult; wanted: string }) {
  if (bots.length + players.length + contests.length + matches.length === 0) {
    return <p>Nothing begins with “<bdi>{wanted}</bdi>”. Only the beginning of a name is compared; capitals do not matter. <a href="/bots">All bots</a> · <a href="/matches">All matches</a></p>;
  }
  return (
    <div class="columns found">
      {bots.length > 0 && <Kind title="Bots">{bots.map((name) => <li key={name}><BotLink name={name} /></li>)}</Kind>}
      {players.length > 0 && <Kind title="Guests and house bots">{players.map((name) => <li key={name}><BotLink name={name} /></li>)}</Kind>}
      {contests.length > 0 && <Kind title="Contests">{contests.map(({ game, name }) => <li key={game + name}><ContestLink game={game} name={name} /> <span class="quiet">{gameTitle(game)}</span></li>)}</Kind>}
      {matches.length > 0 && <Kind title="Matches">{matches.map((id) => <li key={id}><MatchLink id={id}><span class="mono">{id}</span></MatchLink></li>)}</Kind>}
    </div>
  );
}

function Kind({ title, children }: { title: string; children: ComponentChildren }) {
  return <section><h2>{title}</h2><ul class="lines">{children}</ul></section>;
}
