/** The front page. */

export default function Front() {
  return <h1>Botdrome</h1>;
}
