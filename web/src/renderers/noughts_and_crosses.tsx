/** The renderer of noughts and crosses. */
import { useRef } from 'preact/hooks';
import { Cells } from './cells';
import { colourOf, type BoardProps, type Mark as MatchMark, type Renderer, type Seat } from './renderer';

export type NoughtsView = {
  you: number | null;
  toMove: number[];
  marks: string[];
  board: string[][];
};

type Place = readonly [row: number, column: number];

const CELL = 100;
const PLACES: readonly Place[] = [0, 1, 2].flatMap((row) => [0, 1, 2].map((column) => [row, column] as const));
const LINES: readonly (readonly Place[])[] = [
  ...[0, 1, 2].map((row) => [0, 1, 2].map((column) => [row, column] as const)),
  ...[0, 1, 2].map((column) => [0, 1, 2].map((row) => [row, column] as const)),
  [0, 1, 2].map((at) => [at, at] as const),
  [0, 1, 2].map((at) => [at, 2 - at] as const),
];

export function markAt(view: NoughtsView, [row, column]: Place): string {
  return view.board[row]?.[column] ?? '';
}

/** The places of the lines that won: one, or two that share a mark. */
export function wonLines(view: NoughtsView): (readonly Place[])[] {
  return LINES.filter((line) => {
    const [first, ...others] = line.map((place) => markAt(view, place));
    return Boolean(first) && others.every((mark) => mark === first);
  });
}

/** The places that were marked since `before`. */
export function marked(view: NoughtsView, before: NoughtsView | null): Place[] {
  return before ? PLACES.filter((place) => markAt(view, place) && !markAt(before, place)) : [];
}

function nameOf(seats: readonly Seat[], seat: number): string {
  return seats[seat]?.name ?? `seat ${seat}`;
}

function words([row, column]: Place): string {
  return `row ${row + 1}, column ${column + 1}`;
}

export function describe(view: NoughtsView, seats: readonly Seat[]): string {
  const rows = view.board.map((row, at) => `Row ${at + 1}: ${row.map((mark) => mark || 'empty').join(', ')}.`);
  return [...rows, standing(view, seats)].join(' ');
}

function standing(view: NoughtsView, seats: readonly Seat[]): string {
  const [line] = wonLines(view);
  if (line) {
    const mark = markAt(view, line[0]!);
    return `${nameOf(seats, view.marks.indexOf(mark))} (${mark}) has won.`;
  }
  const [seat] = view.toMove;
  if (seat === undefined) return 'The game is drawn.';
  return `${nameOf(seats, seat)} (${view.marks[seat]}) is to move.`;
}

/** The line that wins. */
export function marks(view: NoughtsView, before: NoughtsView, seats: readonly Seat[]): MatchMark[] {
  const [line] = wonLines(view);
  if (!line || wonLines(before).length) return [];
  const seat = view.marks.indexOf(markAt(view, line[0]!));
  const ends = `from ${words(line[0]!)} to ${words(line[2]!)}`;
  return [{ kind: 'capture', words: `${nameOf(seats, seat)} has three in a row, ${ends}`, player: seats[seat]?.player ?? seat }];
}

export function moveInWords(move: unknown): string {
  const { mark, space } = move as { mark: string; space: [number, number] };
  return `${mark} at ${words(space)}`;
}

function Mark({ mark }: { mark: string }) {
  if (mark === 'O') return <ellipse class="stroke" pathLength={1} cx={50} cy={50} rx={27.5} ry={29} transform="rotate(-75 50 50)" />;
  return (
    <>
      <path class="stroke" pathLength={1} d="M 25 24 C 38 40 58 58 76 77" />
      <path class="stroke second" pathLength={1} d="M 76 23 C 62 42 42 58 24 77" />
    </>
  );
}

function placed([row, column]: Place): string {
  return `translate(${column * CELL} ${row * CELL})`;
}

function Plate({ name }: { name: string }) {
  return <rect class={name} x={8} y={8} width={84} height={84} rx={10} />;
}

function Marks({ view, fresh, last, seats }: { view: NoughtsView; fresh: Place[]; last: Place | null; seats: readonly Seat[] }) {
  const won = wonLines(view).flat();
  const has = (places: readonly Place[], [row, column]: Place) => places.some((place) => place[0] === row && place[1] === column);
  return (
    <>
      {PLACES.filter((place) => markAt(view, place)).map((place) => {
        const mark = markAt(view, place);
        const classes = ['noughts-mark', has(fresh, place) && 'fresh', won.length > 0 && !has(won, place) && 'faded'];
        return (
          <g
            key={place.join()}
            class={classes.filter(Boolean).join(' ')}
            transform={placed(place)}
            style={{ color: colourOf(seats[view.marks.indexOf(mark)]?.player ?? 0) }}
          >
            {last && !won.length && has([last], place) && <Plate name="noughts-last" />}
            <Mark mark={mark} />
          </g>
        );
      })}
    </>
  );
}

function Line({ places, colour }: { places: readonly Place[]; colour: string }) {
  const [first, last] = [places[0]!, places[2]!];
  const along = [Math.sign(last[1] - first[1]), Math.sign(last[0] - first[0])] as const;
  const end = (place: Place, by: number) => `${(place[1] + 0.5) * CELL + along[0] * by} ${(place[0] + 0.5) * CELL + along[1] * by}`;
  return <path class="noughts-line" pathLength={1} d={`M ${end(first, -28)} L ${end(last, 28)}`} style={{ color: colour }} />;
}

/** The mark of the last move, also in frames in which nothing is marked: until the board changes again. */
function useLast(view: NoughtsView, fresh: Place[]): Place | null {
  const kept = useRef<{ board: string; place: Place | null }>({ board: '', place: null });
  const board = JSON.stringify(view.board);
  if (kept.current.board !== board || fresh.length) kept.current = { board, place: fresh.length === 1 ? fresh[0]! : null };
  return kept.current.place;
}

function Squares({ view, move, legal }: Pick<BoardProps<NoughtsView>, 'view' | 'move' | 'legal'>) {
  const mine = view.you === null ? undefined : view.marks[view.you];
  const turn = move !== undefined && view.you !== null && view.toMove.includes(view.you);
  const listed = legal?.map((raw) => (raw as { space: Place }).space.join());
  const open = (place: Place) => turn && markAt(view, place) === '' && (listed?.includes(place.join()) ?? true);
  return (
    <>
      {PLACES.filter(open).map((place) => <g key={place.join()} transform={placed(place)}><Plate name="noughts-open" /></g>)}
      <Cells
        columns={3} rows={3} size={CELL} left={0} top={0} start={[1, 1]}
        label="Noughts and crosses"
        name={(x, y) => `${words([y, x])}, ${markAt(view, [y, x]) || 'empty'}`}
        open={(x, y) => open([y, x])}
        play={(x, y) => move?.({ mark: mine, space: [y, x] })}
        ghost={(x, y) => <g class="ghost" transform={placed([y, x])}><Mark mark={mine ?? 'X'} /></g>}
      />
    </>
  );
}

function NoughtsBoard({ view, before, seats, small, legal, move }: BoardProps<NoughtsView>) {
  const fresh = marked(view, before);
  const last = useLast(view, fresh);
  const colour = (seat: number) => colourOf(seats[seat]?.player ?? 0);
  const playing = view.you !== null && !small;
  return (
    <svg
      class={small ? 'board-svg noughts small' : 'board-svg noughts'} viewBox="-6 -6 312 312"
      {...(playing ? { style: { '--mine': colour(view.you!) } } : { role: 'img', 'aria-label': 'Board of noughts and crosses' })}
    >
      <path class="noughts-grid" d="M 100 4 V 296 M 200 4 V 296 M 4 100 H 296 M 4 200 H 296" />
      {playing && <Squares view={view} legal={legal} move={move} />}
      <g class="pieces" aria-hidden={playing}>
        {wonLines(view).map((line) => (
          <Line key={line.join(' ')} places={line} colour={colour(view.marks.indexOf(markAt(view, line[0]!)))} />
        ))}
        <Marks view={view} fresh={fresh} last={last} seats={seats} />
      </g>
    </svg>
  );
}

export const noughtsAndCrosses: Renderer<NoughtsView> = {
  Board: NoughtsBoard,
  describe,
  marks,
  moveInWords,
  silent: () => 'Nobody moves.',
  help: 'Click or tap an empty space to mark it. By keyboard: walk with the arrow keys, mark with Enter or Space.',
};
