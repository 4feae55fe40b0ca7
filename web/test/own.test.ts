import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleBot } from '../src/pages/examples';
import { gameTitle, rulesOf } from '../src/pages/rules';
import { generic } from '../src/renderers/generic';
import { rendererOf } from '../src/renderers/table';

const EVERYWHERE = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];

test('words that every object knows are no games', async () => {
  for (const word of EVERYWHERE) {
    assert.equal(await rendererOf(word), generic);
    assert.equal(gameTitle(word), word);
    assert.deepEqual(rulesOf(word).rules, []);
    assert.equal(exampleBot(word), null);
  }
});
