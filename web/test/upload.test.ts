import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveOf, crc32, refusal } from '../src/parts/pack';
import { editBy, tokensOf } from '../src/parts/python-editor';

const LIMITS = { packed: 1000, unpacked: 500, files: 5 };

test('a file is refused by its name, or its size', () => {
  assert.equal(refusal('bot.py', 500, LIMITS), null);
  assert.equal(refusal('my.bot.ZIP', 1000, LIMITS), null);
  assert.match(refusal('bot.exe', 5, LIMITS)!, /neither a file in Python/);
  assert.match(refusal('bot.py', 0, LIMITS)!, /is empty/);
  assert.match(refusal('bot.py', 501, LIMITS)!, /at most 500/);
  assert.match(refusal('bot.zip', 1001, LIMITS)!, /at most 1,000/);
});

test('an archive has the check sum and the sizes of its file', async () => {
  const data = new TextEncoder().encode('123456789');
  assert.equal(crc32(data), 0xcbf43926);
  const view = new DataView(await archiveOf('bot.py', data).arrayBuffer());
  assert.deepEqual([view.getUint32(0, true), view.getUint32(14, true), view.getUint32(18, true)], [0x04034b50, 0xcbf43926, 9]);
  assert.equal(view.getUint32(view.byteLength - 22, true), 0x06054b50);
  assert.equal(view.getUint32(view.byteLength - 6, true), 30 + 6 + 9);
});

test('the editor indents as Python needs it', () => {
  const at = (key: string, text: string) => editBy(key, text, text.length, text.length);
  assert.equal(at('Tab', 'a')?.text, '   ');
  assert.equal(at('Enter', '  if x:')?.text, '\n      ');
  assert.equal(at('Enter', 'a\n    b')?.text, '\n    ');
  assert.equal(at('Backspace', 'if x:\n        ')?.from, 10);
  assert.equal(at('Backspace', '      ')?.from, 4);
  for (const text of ['', 'ab', ' ', '    a']) assert.equal(at('Backspace', text), null);
  assert.equal(at('a', 'text'), null);
});

test('the colours leave the text as it is', () => {
  const text = 'def bot(view):  # TODO\n    return f"{view[\'x\']} <b>" or None\n';
  const tokens = tokensOf(text);
  assert.equal(tokens.map(([words]) => words).join(''), text);
  assert.deepEqual(tokens[0], ['def', 'kwd']);
  assert.ok(tokens.some(([words, kind]) => words.startsWith('# TODO') && kind === 'cmnt'));
});
