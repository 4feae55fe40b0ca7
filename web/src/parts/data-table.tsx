/** A table that the server sorts and sends page by page. Sorting and page are in the address. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { queryOf, type Query } from '../api/rest';
import { useRest, type Reading } from '../api/use';
import { go, path, query } from '../router';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** The server's name for the column, if it sorts by it. */
  sort?: string;
  /** The largest or latest comes first when the column is chosen. */
  falling?: boolean;
  number?: boolean;
  /** Left out on a phone. */
  wide?: boolean;
  /** The column that names the row. */
  head?: boolean;
}

interface Page {
  total: number;
  limit: number;
  offset: number;
}

interface TableProps<Row, Answer extends Page> {
  caption: string;
  /** Under /api/v1. */
  from: string;
  filters?: Query;
  rows: (answer: Answer) => readonly Row[];
  columns: readonly Column<Row>[];
  /** The server's default sorting. */
  usual: string;
  /** The sorting of the page until the user chooses another one. */
  first?: string;
  /** The text for an empty table. */
  empty: ComponentChildren;
  limit?: number;
  /** A prefix for the names in the address, for pages with several tables. */
  prefix?: string;
  /** Milliseconds between two refreshes. */
  every?: number;
  rowClass?: (row: Row) => string;
  note?: (answer: Answer) => ComponentChildren;
}

export function DataTable<Row, Answer extends Page>(props: TableProps<Row, Answer>) {
  const { from, filters = {}, usual, first = usual, limit = 25, prefix = '', every = 0 } = props;
  const sort = query.value.get(`${prefix}sort`) ?? first;
  const offset = Number(query.value.get(`${prefix}from`) ?? 0) || 0;
  const reading = useRest<Answer>(from + queryOf({ ...filters, sort: sort === usual ? null : sort, limit, offset: offset || null }), every);
  const change = (changes: Query) => go(path.value + changed(prefix, changes), true);
  return <Shown {...props} reading={reading} sort={sort} change={change} />;
}

/** Rows that are here already, a page at a time. */
export function RowsTable<Row>({ rows, limit = 50, ...shown }: { caption: string; rows: readonly Row[]; columns: readonly Column<Row>[]; empty: ComponentChildren; limit?: number; rowClass?: (row: Row) => string }) {
  const [from, setFrom] = useState(0);
  const offset = from < rows.length ? from : 0;
  const reading = { value: { total: rows.length, limit, offset }, error: null, loading: false, again: () => {} };
  return <Shown<Row, Page> {...shown} from="" usual="" sort="" rows={() => rows.slice(offset, offset + limit)} reading={reading} change={(changes) => setFrom(Number(changes['from'] ?? 0))} />;
}

/** The query of the address with some names changed. */
function changed(prefix: string, changes: Query): string {
  const values = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === 0) values.delete(prefix + name);
    else values.set(prefix + name, String(value));
  }
  const text = values.toString();
  return text && `?${text}`;
}

interface ShownProps<Row, Answer extends Page> extends TableProps<Row, Answer> {
  reading: Reading<Answer>;
  sort: string;
  change: (changes: Query) => void;
}

function Shown<Row, Answer extends Page>(props: ShownProps<Row, Answer>) {
  const { reading, caption, columns, sort, change, empty, rowClass, note } = props;
  const answer = reading.value;
  if (!answer) return reading.error ? <TableProblem reading={reading} caption={caption} /> : <p class="quiet table-wait" role="status">Loading …</p>;
  const rows = props.rows(answer);
  return (
    <div class="data-table" role="group" aria-label={caption} tabIndex={0} aria-busy={reading.loading}>
      {reading.error && <TableProblem reading={reading} caption={caption} />}
      {rows.length === 0 ? <Empty caption={caption} words={empty} answer={answer} change={change} /> : (
        <table>
          <caption>{caption}{note && <> · {note(answer)}</>}</caption>
          <thead><tr>{columns.map((column) => <Head key={column.title} column={column} sort={sort} change={change} />)}</tr></thead>
          <tbody>{rows.map((row, at) => <tr key={at} class={rowClass?.(row)}>{columns.map((column) => <Cell key={column.title} column={column} row={row} />)}</tr>)}</tbody>
        </table>
      )}
      <Pager page={answer} caption={caption} change={change} />
    </div>
  );
}

function TableProblem<T>({ reading, caption }: { reading: Reading<T>; caption: string }) {
  return (
    <div class="problem" role="alert">
      <p>{caption}: {reading.error} <button type="button" onClick={reading.again}>Try again</button></p>
    </div>
  );
}

function Empty({ caption, words, answer, change }: { caption: string; words: ComponentChildren; answer: Page; change: (changes: Query) => void }) {
  if (answer.offset > 0) return <p class="quiet">This page is past the end. <button type="button" onClick={() => change({ from: null })}>To the first page</button></p>;
  return <div class="empty"><p class="quiet">{caption}</p><p>{words}</p></div>;
}

function classOf({ number, wide }: { number?: boolean; wide?: boolean }): string {
  return [number && 'number', wide && 'wide'].filter(Boolean).join(' ');
}

function Head<Row>({ column, sort, change }: { column: Column<Row>; sort: string; change: (changes: Query) => void }) {
  const { title, sort: name, falling = false } = column;
  if (!name) return <th scope="col" class={classOf(column)}>{title}</th>;
  const chosen = sort.replace('-', '') === name;
  const down = sort.startsWith('-');
  const next = chosen ? !down : falling;
  return (
    <th scope="col" class={classOf(column)} aria-sort={chosen ? (down ? 'descending' : 'ascending') : 'none'}>
      <button type="button" class="sort" onClick={() => change({ sort: (next ? '-' : '') + name, from: null })}>
        {title}<span aria-hidden="true">{chosen ? (down ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </th>
  );
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  return column.head ? <th scope="row" class={`row-head ${classOf(column)}`}>{column.cell(row)}</th> : <td class={classOf(column)}>{column.cell(row)}</td>;
}

function Pager({ page, caption, change }: { page: Page; caption: string; change: (changes: Query) => void }) {
  const { total, limit, offset } = page;
  if (total <= limit) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav class="pager" aria-label={`Pages of: ${caption}`}>
      <button type="button" disabled={offset === 0} onClick={() => change({ from: Math.max(0, offset - limit) })}>Previous</button>
      <span>{(offset + 1).toLocaleString()} to {last.toLocaleString()} of {total.toLocaleString()}</span>
      <button type="button" disabled={last >= total} onClick={() => change({ from: offset + limit })}>Next</button>
    </nav>
  );
}
