/** The end of the match, in words, and its downloads. */
import type { Cause, Film, Result } from '../replay/film';
import { CAUSES } from '../replay/words';
import { colourOf, signOf } from '../renderers/renderer';
import type { Showing } from './showing';
import { nameOf, number, ordinal, resultInWords } from './words';

/** With more players, the list scrolls, also by keyboard. */
const FEW = 6;

export function ResultBox({ film, links }: Showing) {
  const result = resultOf(film);
  if (!result) return null;
  const ranked = film.header.players.map((_, player) => player).sort((one, other) => result.places[one]! - result.places[other]!);
  return (
    <section class="result" aria-label="Result" tabIndex={ranked.length > FEW ? 0 : undefined}>
      <h2>Result</h2>
      <table>
        <thead class="hidden">
          <tr><th>Place</th><th>Player</th><th>Score</th>{links?.why && <th>For its owner</th>}</tr>
        </thead>
        <tbody>
          {ranked.map((player) => (
            <tr key={player}>
              <td class={`place place-${result.places[player]}`}>{ordinal(result.places[player] ?? 0)}</td>
              <td><Ranked film={film} player={player} cause={result.causes[player] ?? 'complete'} /></td>
              <td class="number">{number(result.scores[player] ?? 0)}</td>
              {links?.why && <td class="number"><a href={links.why(player)} title="Its messages in both directions, for its owner">Flight record</a></td>}
            </tr>
          ))}
        </tbody>
      </table>
      {links?.record && (
        <p class="actions">
          <a class="button" href={links.record} download={`${film.header.match}.jsonl`}>Download the match file</a>
          {links.gif && <a class="button" href={links.gif} download={`${film.header.match}.gif`}>Download as GIF</a>}
        </p>
      )}
    </section>
  );
}

function Ranked({ film, player, cause }: { film: Film; player: number; cause: Cause }) {
  return (
    <div class="ranked">
      <span class="sign" style={{ '--seat': colourOf(player) }} aria-hidden="true">{signOf(player)}</span>
      <span>
        <bdi>{film.header.players[player]?.name}</bdi>
        {cause !== 'complete' && <span class="result-cause">{(player !== headlineOf(film)?.player && film.frame(film.length - 1).headlines?.[player]) || CAUSES[cause]}</span>}
      </span>
    </div>
  );
}

/** The outcome in one sentence, such as "bob lost at step 7: space [2, 2] is taken, third illegal move". */
export function Headline({ film }: { film: Film }) {
  const [told, result] = [headlineOf(film), resultOf(film)];
  const level = result?.places.every((place, player) => place === 1 && result.causes[player] === 'complete');
  if (!told || level) return result && <p class="headline">{resultInWords(film.header, result)}</p>;
  return <p class="headline"><bdi>{told.name}</bdi> {told.words}.</p>;
}

/** The headline of the first player with a fault, or else of the winner; null: the match is not over, or is only seen live. */
export function headlineOf(film: Film): { player: number; name: string; words: string } | null {
  const result = resultOf(film);
  const headlines = result && film.frame(film.length - 1).headlines;
  if (!headlines) return null;
  const faulty = result.causes.findIndex((cause) => cause !== 'complete');
  const player = faulty < 0 ? result.places.indexOf(1) : faulty;
  return { player, name: nameOf(film.header, player), words: headlines[player] ?? '' };
}

/** null: the match is not over. */
export function resultOf(film: Film): Result | null {
  if (!film.over || film.length === 0) return null;
  const { event } = film.frame(film.length - 1);
  return event?.event === 'ended' ? event.result : null;
}
