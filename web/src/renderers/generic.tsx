/** The renderer for any game: grids as grids, lists by seat as a table of players, all else readably. */
import { useMemo } from 'preact/hooks';
import type { View } from '../replay/film';
import { SeatSign } from './controls';
import { GenericGrid } from './generic_grid';
import { MovePad } from './generic_play';
import { type Grid, type Outline, at, describe, gridOf, inline, isScalar, moveInWords, movesByCell, outlineOf, scores, titleOf } from './generic_view';
import { type BoardProps, type Renderer, type Seat, nameOf } from './renderer';

const MOST_ROWS = 30;
const MOST_FACTS_ON_SMALL = 4;

function GenericBoard({ view, before, seats, small, legal, move }: BoardProps) {
  const outline = useMemo(() => outlineOf(view, seats), [view, seats]);
  const earlier = (path: string) => (before ? gridOf(at(before, path)) : null);
  const marks = useMemo(() => seatsByMark(view, seats), [view, seats]);
  if (small) return <SmallBoard outline={outline} earlier={earlier} marks={marks} />;
  const mine = move && typeof view.you === 'number' && Array.isArray(view.toMove) && view.toMove.includes(view.you) ? move : undefined;
  const byCell = mine && legal && outline.grids.length === 1 ? movesByCell(legal, outline.grids[0]!.grid) : null;
  return (
    <div class="generic">
      {outline.grids.length > 0 && (
        <div class="generic-grids">
          {outline.grids.map(({ title, grid, path }) => (
            <figure key={path}>
              <GenericGrid
                title={title} grid={grid} before={earlier(path)} marks={marks} open={byCell}
                choose={(cell) => mine?.(byCell?.get(cell))}
              />
              <figcaption>{title}</figcaption>
            </figure>
          ))}
        </div>
      )}
      {mine && <MovePad view={view} legal={legal} move={mine} />}
      <div class="generic-values">
        <Players columns={outline.bySeat} seats={seats} />
        <Facts facts={outline.facts} />
        {outline.rest.map(([title, value]) => <div key={title} role="group" aria-label={title}><p class="generic-title">{title}</p><Value value={value} depth={0} /></div>)}
      </div>
    </div>
  );
}

/** Signs of players on the board ("X"), where a list of the view gives one to each seat. */
function seatsByMark(view: View, seats: readonly Seat[]): Map<string, number> {
  const lists = Object.values(view).filter((value): value is unknown[] => Array.isArray(value) && value.length === seats.length);
  const list = lists.find((values) => values.every((value) => typeof value === 'string' && value.length === 1) && new Set(values).size === values.length);
  return new Map(list?.map((mark, seat) => [String(mark), seats[seat]!.player]));
}

interface SmallProps { outline: Outline; earlier: (path: string) => Grid | null; marks: Map<string, number> }

/** The first board, or else the first few values. */
function SmallBoard({ outline: { grids, facts }, earlier, marks }: SmallProps) {
  const [first] = grids;
  if (first) return <GenericGrid title={first.title} grid={first.grid} before={earlier(first.path)} marks={marks} open={null} />;
  return <div class="generic small"><Facts facts={facts.slice(0, MOST_FACTS_ON_SMALL)} /></div>;
}

function Players({ columns, seats }: { columns: Outline['bySeat']; seats: readonly Seat[] }) {
  if (columns.length === 0) return null;
  return (
    <div class="scroll" role="region" aria-label="Players" tabIndex={0}>
      <table>
        <thead><tr><th scope="col">Player</th>{columns.map(([title]) => <th key={title} scope="col">{title}</th>)}</tr></thead>
        <tbody>
          {seats.map((seat, place) => (
            <tr key={place}>
              <th scope="row"><SeatSign player={seat.player} /> {nameOf(seats, place)}</th>
              {columns.map(([title, values]) => <td key={title}>{inline(values[place])}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Facts({ facts }: { facts: Outline['facts'] }) {
  if (facts.length === 0) return null;
  return <dl class="generic-facts">{facts.map(([title, text]) => <div key={title}><dt>{title}</dt><dd>{text}</dd></div>)}</dl>;
}

/** A value that is neither one of many nor a grid: a table of its objects, a list, or its entries. */
function Value({ value, depth }: { value: unknown; depth: number }) {
  if (isScalar(value) || depth > 2) return <>{inline(value)}</>;
  if (!Array.isArray(value)) {
    const entries = Object.entries(value);
    return <dl class="generic-entries">{entries.map(([key, each]) => <div key={key}><dt>{titleOf(key)}</dt><dd><Value value={each} depth={depth + 1} /></dd></div>)}</dl>;
  }
  const columns = keysOf(value);
  return columns ? <Objects rows={value} columns={columns} /> : <p>{inline(value)}</p>;
}

/** The keys of a list of objects; null: it is a list of something else. */
function keysOf(rows: readonly unknown[]): string[] | null {
  if (rows.length === 0 || rows.some((row) => isScalar(row) || Array.isArray(row))) return null;
  return [...new Set(rows.flatMap((row) => Object.keys(row as object)))];
}

function Objects({ rows, columns }: { rows: readonly Record<string, unknown>[]; columns: readonly string[] }) {
  const hidden = rows.length - MOST_ROWS;
  return (
    <div class="scroll" role="region" aria-label="List" tabIndex={0}>
      <table>
        <thead><tr>{columns.map((key) => <th key={key} scope="col">{titleOf(key)}</th>)}</tr></thead>
        <tbody>{rows.slice(0, MOST_ROWS).map((row, place) => <tr key={place}>{columns.map((key) => <td key={key}>{inline(row[key])}</td>)}</tr>)}</tbody>
      </table>
      {hidden > 0 && <p class="quiet">And {hidden} more.</p>}
    </div>
  );
}

export const generic: Renderer = {
  Board: GenericBoard,
  describe,
  scores,
  moveInWords,
  help: 'Click on a cell where cells can be chosen, press the button of a move, or write the move as JSON.',
};
