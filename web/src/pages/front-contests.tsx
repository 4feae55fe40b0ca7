/** The contests on the front page: those that are open or run, with how to enter, and those with matches. */
import type { AllContests, ListedContest, ListedContests } from '../api/types';
import { useRest } from '../api/use';
import { ContestLink, contestPath } from '../parts/links';
import { Moment } from '../parts/moment';
import { Problem } from '../parts/problem';
import { StateBadge } from './contest-document';
import { entryHint, FORMAT_TITLES } from './contest-words';
import { gameTitle } from './rules';

/** A placeholder for a list that is loading. */
export function Wait() {
  return <p class="quiet list-wait" role="status">Loading …</p>;
}

export function ContestsSection() {
  const current = useRest<ListedContests>('/contest-documents?state=current&limit=20', 15_000);
  const { value, error, again } = useRest<AllContests>('/contests?limit=8', 30_000);
  const listed = current.value?.contests ?? [];
  const others = value?.contests.filter(({ game, name }) => !listed.some((one) => one.game === game && one.name === name));
  return (
    <section aria-labelledby="contests">
      <h2 id="contests">Contests</h2>
      {error && !value && <Problem words={error} retry={again} />}
      {!value && !error && <Wait />}
      <ul class="lines" aria-label="Open and running contests">{listed.map((one) => <li key={one.name}><CurrentContest contest={one} /></li>)}</ul>
      {others?.length === 0 && listed.length === 0 && <p class="quiet">There are none yet. Bots that log in with the name of a contest meet each other in it.</p>}
      <ul class="lines" aria-label="Contests with matches">
        {others?.map(({ game, name, matches, last }) => (
          <li key={`${game} ${name}`}><ContestLink game={game} name={name} /><span class="quiet"> {gameTitle(game)} · {matches.toLocaleString()} {matches === 1 ? 'match' : 'matches'} · <Moment at={last} /></span></li>
        ))}
      </ul>
      {value && value.total + listed.length > 0 && <p><a href="/contests">All contests</a></p>}
    </section>
  );
}

function CurrentContest({ contest }: { contest: ListedContest }) {
  const { game, name, title, state, format, entrants, start } = contest;
  const hint = entryHint(contest);
  return (
    <>
      <a class="name" href={contestPath(game, name)}><bdi>{title}</bdi></a> <StateBadge state={state} />
      <span class="quiet">
        {' '}{gameTitle(game)} · {FORMAT_TITLES[format] ?? format} · {entrants.toLocaleString()} {entrants === 1 ? 'bot' : 'bots'}
        {state === 'open' && start && <> · starts <time dateTime={start}>{new Date(start).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}</time></>}
        {contest.why && ' · waits for its organiser'}
        {hint && <> · <a href={contestPath(game, name)}>{hint}</a></>}
      </span>
    </>
  );
}
