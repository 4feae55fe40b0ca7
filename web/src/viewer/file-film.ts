/** The film of a match file that the user has on disk. */
import { BASE, RestError } from '../api/rest';
import type { Film } from '../replay/film';
import { readFilm } from '../replay/stored';

/** As the server has it: docs/watching.md. */
const LARGEST = 8 << 20;

/** The film of a match file. The server makes it, since only the server has the rules. */
export async function filmOf(file: File): Promise<Film> {
  if (file.size === 0) throw new Error(`The file ${file.name} is empty.`);
  if (file.size > LARGEST) {
    throw new Error(`The file ${file.name} has ${mebibytes(file.size)} MiB, and the server takes ${mebibytes(LARGEST)} at most. On your own machine, \`botdrome replay FILE --html film.html\` shows it.`);
  }
  return readFilm(await posted(file));
}

async function posted(file: File): Promise<string> {
  let response: Response;
  try {
    response = await fetch(`${BASE}/films`, { method: 'POST', body: file });
  } catch {
    throw new RestError('The server does not answer. Check your connection, then try again.', 0);
  }
  const text = await response.text();
  if (!response.ok) throw new RestError(errorIn(text) ?? `The server answered with the status ${response.status}.`, response.status);
  return text;
}

function errorIn(text: string): string | null {
  try {
    const said: unknown = JSON.parse(text);
    return typeof said === 'object' && said && 'error' in said ? String(said.error) : null;
  } catch {
    return null;
  }
}

function mebibytes(bytes: number): string {
  return String(Math.round((bytes / (1 << 20)) * 10) / 10);
}
