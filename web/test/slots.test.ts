import assert from 'node:assert/strict';
import { test } from 'node:test';
import { featuredAfter, slotsAfter } from '../src/pages/slots';

/** Capitals are matches of another game. */
const tables = (ids: string) => [...ids].map((id) => ({ id, game: id < 'a' ? 'gomoku' : 'bumblebots' }));
const shown = (slots: { table: { id: string } }[]) => slots.map(({ table }) => table.id).join('');

test('boards stay in their places, and newcomers take those of matches that are over', () => {
  const first = slotsAfter([], tables('abc'), 3);
  assert.equal(shown(first), 'cba');
  const second = slotsAfter(first, tables('acd'), 3);
  assert.equal(shown(second), 'cda');
  assert.equal(shown(slotsAfter(second, tables('acdefg'), 3)), 'cda');
});

test('a match that is over stays until another takes its place', () => {
  let slots = slotsAfter([], tables('ab'), 5);
  for (let round = 0; round < 9; round++) slots = slotsAfter(slots, tables('a'), 5);
  assert.equal(shown(slots), 'ba');
  assert.equal(shown(slotsAfter(slots, tables('ac'), 5)), 'ca');
});

test('games are mixed, and every game has a place', () => {
  assert.equal(shown(slotsAfter([], tables('ABcdefg'), 4)), 'gBfA');
  const full = slotsAfter([], tables('abc'), 3);
  assert.equal(shown(slotsAfter(full, tables('abcA'), 3)), 'cbA');
  assert.equal(shown(slotsAfter(slotsAfter([], tables('aA'), 2), tables('aAB'), 2)), 'Aa');
});

test('the strongest match is featured until its end was seen, or the pinned one', () => {
  const strength = ({ id }: { id: string }) => id.charCodeAt(0);
  let slot = featuredAfter(null, tables('abc'), strength, null);
  assert.equal(slot?.table.id, 'c');
  slot = featuredAfter(slot, tables('abcz'), strength, null);
  assert.equal(slot?.table.id, 'c');
  for (let round = 0; round < 2; round++) slot = featuredAfter(slot, tables('abz'), strength, null);
  assert.deepEqual([slot?.table.id, slot?.over], ['c', 2]);
  assert.equal(featuredAfter(slot, tables('abz'), strength, null)?.table.id, 'z');
  assert.equal(featuredAfter(slot, [], strength, null)?.table.id, 'c');
  assert.equal(featuredAfter(slot, tables('abz'), strength, tables('b')[0]!)?.table.id, 'b');
  assert.equal(featuredAfter(null, [], strength, null), null);
});
