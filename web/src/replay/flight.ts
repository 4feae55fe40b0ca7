/** Flight: what passed between the server and one bot, line by line. */

export interface FlightLine {
  /** Milliseconds since the match began. */
  t: number;
  dir: 'in' | 'out';
  message: string;
  verdict?: string;
  /** Milliseconds that the bot took for this answer. */
  used?: number;
  /** How many steps had been played. */
  step?: number;
}

export interface Flight {
  lines: FlightLine[];
  /** How many lines at the beginning were not kept. */
  lost: number;
  cause: string | null;
  reason: string | null;
}

type Written = FlightLine | { lost: number } | { cause: string; reason?: string };

export function readFlight(text: string): Flight {
  const flight: Flight = { lines: [], lost: 0, cause: null, reason: null };
  for (const line of text.split('\n')) {
    if (!line.trim()) continue;
    const said = JSON.parse(line) as Written;
    if ('cause' in said) [flight.cause, flight.reason] = [said.cause, said.reason ?? null];
    else if ('lost' in said) flight.lost = said.lost;
    else flight.lines.push(said);
  }
  return flight;
}

/** Whether the server took exception to an answer. */
export function isFault({ dir, verdict = '' }: FlightLine): boolean {
  return dir === 'in' && verdict !== '' && verdict !== 'accepted';
}

/** The line that a reader wants to see first: the last fault, else the last answer, else the last line; -1: there is none. */
export function telling({ lines }: Flight): number {
  const fault = lines.findLastIndex(isFault);
  const answer = fault < 0 ? lines.findLastIndex(({ dir }) => dir === 'in') : fault;
  return answer < 0 ? lines.length - 1 : answer;
}
