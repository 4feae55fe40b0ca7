/** An error message, and a way to continue. */

export function Problem({ words, retry }: { words: string; retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{words}</p>
      <p>
        {retry && <button type="button" onClick={retry}>Try again</button>} <a href="/">To the front page</a>
      </p>
    </div>
  );
}
