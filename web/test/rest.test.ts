import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryOf } from '../src/api/rest';

test('a query has what is there, and repeats what there is several times', () => {
  assert.equal(queryOf({ game: 'gomoku', owner: undefined, bot: ['a b', 'c'], limit: 5 }), '?game=gomoku&bot=a+b&bot=c&limit=5');
  assert.equal(queryOf({ owner: null, game: '' }), '');
});
