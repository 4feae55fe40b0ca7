import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotsAfter } from '../src/pages/slots';

const tables = (ids: string) => [...ids].map((id) => ({ id }));
const shown = (slots: { table: { id: string } }[]) => slots.map(({ table }) => table.id).join('');

test('boards stay in their places, and newcomers take those of matches that are over', () => {
  const first = slotsAfter([], tables('abc'), 3);
  assert.equal(shown(first), 'cba');
  const second = slotsAfter(first, tables('acd'), 3);
  assert.equal(shown(second), 'cda');
  assert.equal(shown(slotsAfter(second, tables('acdefg'), 3)), 'cda');
});

test('a match that is over stays for some rounds', () => {
  let slots = slotsAfter([], tables('ab'), 5);
  for (let round = 0; round < 3; round++) slots = slotsAfter(slots, tables('a'), 5);
  assert.equal(shown(slots), 'ba');
  assert.equal(shown(slotsAfter(slots, tables('a'), 5)), 'a');
});
