/** How fast a film is read, and how fast any frame of it is found, in processor time. `node seek.mjs FILM` prints JSON. */
import { readFileSync } from 'node:fs';
import { readFilm } from '../src/replay/stored';

/** So far apart that hardly one finds what an earlier one left. */
const SEEKS = 2000;
/** Milliseconds of processor time. */
const now = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const text = readFileSync(process.argv[2] ?? '', 'utf8');

const times: number[] = [];
let began = now();
const film = readFilm(text);
const read = now() - began;
for (let seek = 0; seek < SEEKS; seek += 1) {
  const index = Math.floor(((seek * 0.6180339887) % 1) * film.length);
  began = now();
  film.frame(index);
  times.push(now() - began);
}
times.sort((one, other) => one - other);
began = now();
for (let index = 0; index < film.length; index += 1) film.frame(index);
const all = now() - began;
console.log(JSON.stringify({ read, median: times[SEEKS / 2], most: times[SEEKS * 0.99], longest: times.at(-1), all }));
