/** A moment: how long ago it was while that is short, else the date; all of it in the tooltip. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function Moment({ at }: { at: string }) {
  return <time dateTime={at} title={new Date(at).toLocaleString()}>{momentInWords(new Date(at), new Date())}</time>;
}

/** A date with its time, in the visitor's time zone, which it names. */
export function DateAndTime({ at }: { at: string }) {
  return <time dateTime={at}>{new Date(at).toLocaleString(undefined, WITH_ZONE)}</time>;
}

const WITH_ZONE: Intl.DateTimeFormatOptions = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' };

export function momentInWords(at: Date, now: Date): string {
  const past = now.getTime() - at.getTime();
  if (past < MINUTE) return 'just now';
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  const year = at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const };
  return at.toLocaleDateString(undefined, { day: 'numeric', month: 'short', ...year });
}
