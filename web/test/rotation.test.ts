/** The rotation of scenes on TV. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { isWanted, mixed, nextScene, type Scene } from '../src/pages/rotation';

const { signal } = new AbortController();
/** A scene for each letter; capitals have nothing to show, and a dot cannot be loaded. */
const scenes = (letters: string): Scene<string>[] => [...letters].map((key) => ({ key, load: async () => {
  if (key === '.') throw new Error('no answer');
  return key < 'a' ? null : `show ${key}`;
} }));
const after = async (letters: string, at: number, by: 1 | -1 = 1, key = letters[at]!) => {
  const next = await nextScene(scenes(letters), { key, at }, by, signal);
  return next && `${next.key}${next.at}`;
};

test('scenes follow each other in both directions', async () => {
  assert.equal((await nextScene(scenes('abc'), null, 1, signal))!.loaded, 'show a');
  assert.deepEqual([await after('abc', 0), await after('abc', 2), await after('abc', 0, -1)], ['b1', 'a0', 'c2']);
});

test('empty scenes, and those that cannot be loaded, are left out', async () => {
  assert.deepEqual([await after('aB.d', 0), await after('aB.d', 3, -1)], ['d3', 'a0']);
  assert.deepEqual([await after('aBC', 0), await nextScene(scenes('AB'), null, 1, signal)], [null, null]);
});

test('a scene that does not load in time is left out', async () => {
  const timeout = mock.method(AbortSignal, 'timeout', () => AbortSignal.abort());
  const hanging: Scene<string> = { key: 'x', load: ({ aborted }) => new Promise((_, reject) => aborted && reject(new Error('too late'))) };
  const next = await nextScene([hanging, ...scenes('b')], null, 1, signal);
  timeout.mock.restore();
  assert.equal(next?.key, 'b');
});

test('the same scene is not shown again at once', async () => {
  assert.deepEqual([await after('abac', 0), await after('aXac', 0)], ['b1', 'c3']);
});

test('if the shown scene is gone, its successor takes its place', async () => {
  assert.deepEqual([await after('acd', 1, 1, 'b'), await after('acd', 1, -1, 'b')], ['c1', 'a0']);
});

test('the address names scenes by their beginnings', () => {
  assert.deepEqual([isWanted('live/1', []), isWanted('live/1', ['live']), isWanted('live/1', ['li']), isWanted('next', ['live', 'next'])], [true, true, false, true]);
});

test('live matches come between all other scenes', () => {
  assert.equal(mixed([...'12'], [...'abc']).join(''), '1a2b1c');
  assert.equal(mixed([], [...'ab']).join('') + mixed([...'12'], []).join(''), 'ab12');
});
