/** The contests on the front page: those that are open or run, with how to enter; the last champions; and those that bots opened. */
import type { AllContests, ListedContest, ListedContests } from '../api/types';
import { useRest } from '../api/use';
import { BotLink, ContestLink, contestPath } from '../parts/links';
import { DateAndTime, Moment } from '../parts/moment';
import { Problem } from '../parts/problem';
import { StateBadge } from '../parts/state-badge';
import { ENTER, entryHint, FORMAT_TITLES } from './contest-words';
import { gameTitle } from './rules';

/** A placeholder for a list that is loading. */
export function Wait() {
  return <p class="quiet list-wait" role="status">Loading …</p>;
}

export function ContestsSection() {
  const current = useRest<ListedContests>('/contest-documents?state=current&limit=20', 15_000);
  const over = useRest<ListedContests>('/contest-documents?state=over&limit=4', 30_000);
  const { value, error, again } = useRest<AllContests>('/contests?document=no&limit=6', 30_000);
  const listed = current.value?.contests ?? [];
  const finished = over.value?.contests ?? [];
  const none = value?.contests.length === 0 && listed.length + finished.length === 0;
  return (
    <section aria-labelledby="contests">
      <h2 id="contests">Contests</h2>
      {error && !value && <Problem words={error} retry={again} />}
      {!value && !error && <Wait />}
      <ul class="lines" aria-label="Open and running contests">{listed.map((one) => <li key={one.name}><CurrentContest contest={one} /></li>)}</ul>
      <ul class="lines" aria-label="Finished contests">{finished.map((one) => <li key={one.name}><FinishedContest contest={one} /></li>)}</ul>
      {none && <p class="quiet">There are none yet. Bots that log in with the name of a contest meet each other in it.</p>}
      <ul class="lines" aria-label="Contests opened by bots">
        {value?.contests.map(({ game, name, matches, last }) => (
          <li key={`${game} ${name}`}><ContestLink game={game} name={name} /><span class="quiet"> {gameTitle(game)} · {matches.toLocaleString()} {matches === 1 ? 'match' : 'matches'} · <Moment at={last} /></span></li>
        ))}
      </ul>
      {value && !none && <p><a href="/contests">All contests</a></p>}
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
        {state === 'open' && start && <> · starts <DateAndTime at={start} /></>}
        {contest.why && ' · waits for its organiser'}
        {hint && <> · <a href={contestPath(game, name) + ENTER}>{hint}</a></>}
      </span>
    </>
  );
}

function FinishedContest({ contest: { game, name, title, format, champions } }: { contest: ListedContest }) {
  return (
    <>
      <a class="name" href={contestPath(game, name)}><bdi>{title}</bdi></a>
      <span class="quiet"> {gameTitle(game)} · {FORMAT_TITLES[format] ?? format}{champions.length > 0 && ' · won by '}</span>
      {champions.map((bot, at) => <span key={bot} class="winner">{at > 0 && ', '}<BotLink name={bot} /></span>)}
    </>
  );
}
