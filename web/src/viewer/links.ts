/** Links of the viewer. In an exported file there is no server, so there are none. */

export interface Links {
  /** The page of the match at a step, with the whole address. */
  page: (step: number) => string;
  /** The line that shows the match within another site. */
  embed: (step: number) => string;
  /** The match file; null: there is none (yet). */
  record: string | null;
  /** The match as an animation. */
  gif: string | null;
  bot: (name: string) => string | null;
  /** Why a player lost, for its owner. */
  why: ((player: number) => string) | null;
  /** Continue the match from a step. */
  fork: ((step: number) => string) | null;
}

export function linksOf(match: string, origin: string, over: boolean): Links {
  const page = `/matches/${encodeURIComponent(match)}`;
  const embed = `${origin}/embed/${encodeURIComponent(match)}`;
  return {
    page: (step) => `${origin}${page}?step=${step}`,
    embed: (step) => `<iframe src="${embed}${step ? `?step=${step}` : ''}" width="480" height="600" style="border:0" allowfullscreen title="A match on Botdrome"></iframe>`,
    record: over ? `/api/v1${page}/record` : null,
    gif: over ? `/api/v1${page}/gif` : null,
    bot: (name) => (name.startsWith('house:') ? null : `/bots/${encodeURIComponent(name)}`),
    why: over ? (player) => `${page}/why/${player}` : null,
    fork: over ? (step) => `${page}/continue?step=${Math.max(0, step)}` : null,
  };
}
