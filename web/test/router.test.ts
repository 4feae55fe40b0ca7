import assert from 'node:assert/strict';
import { test } from 'node:test';

const shown: string[] = [];
const place = { pathname: '/embed/8f3c', search: '', assign: (to: string) => shown.push(`load ${to}`) };
const history = { pushState: (_: unknown, __: string, to: string) => shown.push(`show ${to}`) };
Object.assign(globalThis, { location: place, history, scrollTo: () => undefined });

test('what other sites may show in a frame leads to pages that they may not show by loading them', async () => {
  const { go } = await import('../src/router');
  go('/embed/02cd');
  go('/organise');
  go('/embedded');
  place.pathname = '/matches';
  go('/organise');
  assert.deepEqual(shown, ['show /embed/02cd', 'load /organise', 'load /embedded', 'show /organise']);
});
