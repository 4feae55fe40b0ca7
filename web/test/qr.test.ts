/** QR codes of addresses: as large as level M of error correction needs, with white around them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { qrCode } from '../src/parts/qr-code';

test('the size grows with the text', () => {
  const size = (text: string) => qrCode(text)!.length - 8;
  assert.deepEqual([1, 14, 15, 122, 213].map((length) => size('x'.repeat(length))), [21, 21, 25, 45, 57]);
  assert.equal(size('ü'.repeat(8)), 25);
});

test('white surrounds the code', () => {
  const rows = qrCode('http://127.0.0.1:3000/')!;
  assert.ok([...rows.slice(0, 4), ...rows.slice(-4)].flat().every((dark) => !dark));
  assert.deepEqual(rows[4]!.slice(0, 12).map(Number), [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0]);
});

test('a text that is too long has no code', () => assert.equal(qrCode('x'.repeat(3000)), null));
