/** The bots and contests that the user follows, on the front page. */
import { queryOf } from '../api/rest';
import type { Bots, Matches, Standings } from '../api/types';
import { useRest } from '../api/use';
import { followed, FollowButton, type Followed } from '../parts/follow';
import { BotLink, ContestLink } from '../parts/links';
import { MatchLine } from '../parts/match-list';
import { Moment } from '../parts/moment';
import { Rating } from '../parts/rating';
import { recordWords } from './bots';
import { gameTitle } from './rules';

const EVERY = 30_000;
const RECENT = 3;

export default function FollowedList() {
  const bots = followed.value.filter(({ kind }) => kind === 'bot');
  const contests = followed.value.filter(({ kind }) => kind === 'contest');
  return (
    <>
      {bots.length > 0 && <FollowedBots bots={bots} />}
      {contests.length > 0 && <ul class="lines followed">{contests.map((one) => <li key={`${one.game} ${one.name}`}><FollowedContest {...one} /></li>)}</ul>}
    </>
  );
}

function FollowedBots({ bots }: { bots: readonly Followed[] }) {
  const names = bots.map(({ name }) => name);
  const found = useRest<Bots>(`/bots${queryOf({ name: names, limit: names.length })}`, EVERY).value;
  const recent = useRest<Matches>(`/matches${queryOf({ any_bot: names, status: 'ended', limit: RECENT })}`, EVERY).value;
  return (
    <>
      <ul class="lines followed">
        {bots.map((one) => {
          const face = found?.bots.find(({ name }) => name === one.name);
          return (
            <li key={one.name}>
              <BotLink name={one.name} /><span class="quiet"> {gameTitle(one.game)}</span>
              {face && <> · <Rating {...face} /> · {recordWords(face)}{face.seen && <span class="quiet"> · last match <Moment at={face.seen} /></span>}</>}
              {found && !face && <span class="quiet"> · not registered any more</span>} <FollowButton {...one} />
            </li>
          );
        })}
      </ul>
      <ul class="lines" aria-label="Their last matches">{recent?.matches.map((match) => <li key={match.id}><MatchLine match={match} /></li>)}</ul>
    </>
  );
}

function FollowedContest(one: Followed) {
  const { value } = useRest<Standings>(`/standings/${encodeURIComponent(one.game)}/${encodeURIComponent(one.name)}?limit=1`, EVERY);
  const first = value?.bots[0];
  return (
    <>
      <ContestLink game={one.game} name={one.name} /><span class="quiet"> contest of {gameTitle(one.game)}</span>
      {first && <> · first: <BotLink name={first.bot} /> <span class="quiet">of {value.total.toLocaleString()} bots, {first.played.toLocaleString()} played</span></>} <FollowButton {...one} />
    </>
  );
}
