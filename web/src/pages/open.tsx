/** A match file from the user's disk. */
import { useEffect, useState } from 'preact/hooks';
import type { Film } from '../replay/film';
import { dropped } from '../viewer/dropped';
import { filmOf } from '../viewer/file-film';
import { MatchViewer } from '../viewer/viewer';
import { Headline, resultOf } from '../viewer/result';
import { gameTitle } from './rules';

type Opening = { state: 'none' } | { state: 'reading'; name: string } | { state: 'open'; name: string; film: Film } | { state: 'failed'; words: string };

export default function OpenPage() {
  const [opening, setOpening] = useState<Opening>({ state: 'none' });
  const file = dropped.value;
  useEffect(() => void (document.title = 'Open a match file · Botdrome'), []);
  useEffect(() => {
    if (!file) return;
    let wanted = true;
    setOpening({ state: 'reading', name: file.name });
    filmOf(file).then(
      (film) => wanted && setOpening({ state: 'open', name: file.name, film }),
      (error: Error) => wanted && setOpening({ state: 'failed', words: error.message }),
    );
    return () => void (wanted = false);
  }, [file]);
  useEffect(() => () => void (dropped.value = null), []);
  if (opening.state === 'open') return <Opened name={opening.name} film={opening.film} />;
  return (
    <>
      <h1>Open a match file</h1>
      {opening.state === 'failed' && <div class="problem" role="alert"><p>{opening.words}</p><p>Choose another file, or see <a href="/matches">the matches of this server</a>.</p></div>}
      {opening.state === 'reading' ? <p role="status">Reading <bdi>{opening.name}</bdi> …</p> : <Drop />}
    </>
  );
}

function Drop() {
  return (
    <div class="drop">
      <p>Drop a match file here, or anywhere on these pages.</p>
      <FileChoice words="Choose a file" />
      <p class="quiet">A match file (<code>.jsonl</code>) comes from the page of a match or from <code>botdrome play --save</code>. The server replays it, and keeps nothing of it.</p>
    </div>
  );
}

function FileChoice({ words }: { words: string }) {
  return (
    <label class="button main file-choice">
      {words}
      <input class="hidden" type="file" accept=".jsonl,.json,.txt" onChange={(event) => (dropped.value = event.currentTarget.files?.[0] ?? null)} />
    </label>
  );
}

function Opened({ name, film }: { name: string; film: Film }) {
  useEffect(() => void (document.title = `${name} · Botdrome`), [name]);
  return (
    <>
      <header class="match-head">
        <h1><bdi>{name}</bdi></h1>
        <p>{gameTitle(film.header.game)}{!resultOf(film) && ' · The file ends before the match does.'}</p>
        <Headline film={film} />
        <FileChoice words="Open another file" />
      </header>
      <MatchViewer key={name} film={film} />
    </>
  );
}
