import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault, readFlight, telling } from '../src/replay/flight';

const LINES = [
  '{"lost":3}',
  '{"t":1,"dir":"out","message":"{}","step":0}',
  '{"t":2,"dir":"in","message":"a","verdict":"illegal: space [2, 2] is taken","used":1,"step":0}',
  '{"t":3,"dir":"in","message":"b","verdict":"accepted","used":2,"step":0}',
  '{"cause":"aborted","reason":"the host left"}',
];

test('a flight record is read line by line', () => {
  const flight = readFlight(LINES.join('\n') + '\n');
  assert.deepEqual([flight.lost, flight.cause, flight.reason], [3, 'aborted', 'the host left']);
  assert.deepEqual(flight.lines.map(isFault), [false, true, false]);
});

test('the last fault is shown first, else the last answer, else the last line', () => {
  const flight = readFlight(LINES.join('\n'));
  assert.equal(telling(flight), 1);
  assert.equal(telling({ ...flight, lines: flight.lines.filter((line) => !isFault(line)) }), 1);
  assert.equal(telling({ ...flight, lines: flight.lines.slice(0, 1) }), 0);
  assert.equal(telling({ ...flight, lines: [] }), -1);
});
