/** Moves as JSON, for a game whose board cannot be clicked on. */
import { useState } from 'preact/hooks';

const MOST_LISTED = 200;

export function MoveByHand({ legal, move }: { legal: readonly unknown[] | undefined; move: (raw: unknown) => void }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const send = (event: Event) => {
    event.preventDefault();
    try {
      move(JSON.parse(text));
      setProblem('');
      setText('');
    } catch {
      setProblem('A move is a JSON value, such as {"x": 1}.');
    }
  };
  return (
    <form class="play-by-hand" onSubmit={send}>
      <label class="field">
        Your move, as JSON
        <input required class="mono" value={text} list="legal-moves" autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} />
        <datalist id="legal-moves">{legal?.slice(0, MOST_LISTED).map((raw) => <option key={JSON.stringify(raw)} value={JSON.stringify(raw)} />)}</datalist>
      </label>
      <button type="submit" class="main">Send the move</button>
      {problem && <p role="alert">{problem}</p>}
    </form>
  );
}
