/** QR codes, compared with what another encoder made of the same text with the same mask. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { qrCode } from '../src/parts/qr';

const rows = (text: string) => qrCode(text)?.map((row) => row.map((dark) => (dark ? '#' : '.')).join('')) ?? null;

const ADDRESS = [
  '#######.#.##.#..#.#######',
  '#.....#.#...#.#...#.....#',
  '#.###.#.####.##.#.#.###.#',
  '#.###.#..#.#.###..#.###.#',
  '#.###.#.#.#.#.....#.###.#',
  '#.....#...........#.....#',
  '#######.#.#.#.#.#.#######',
  '.........##..##..........',
  '#..#######.#...#.#..#.###',
  '###.##..#..##..###..####.',
  '.#..#.#.###...##..#..#..#',
  '.#.###..###....#.....####',
  '###...##.##...#.###.....#',
  '##..##.####.##.#...##..#.',
  '###.#.#...#..#.###...####',
  '#.##.#....#.#.#.#...#.#.#',
  '#.###.#.#..##########.##.',
  '........##.#.#.##...#..#.',
  '#######.#.#.#...#.#.##..#',
  '#.....#.#.##.#..#...#....',
  '#.###.#.####.#.#######.##',
  '#.###.#.##..###...##.#.##',
  '#.###.#..#.#.#..#...#.###',
  '#.....#..#.###...####.###',
  '#######.#..###.####..#..#',
];

test('an address', () => assert.deepEqual(rows('http://127.0.0.1:3000/'), ADDRESS));

test('the size grows with the text', () => {
  const size = (length: number) => qrCode('x'.repeat(length))?.length;
  assert.deepEqual([1, 14, 15, 122, 213].map(size), [21, 21, 25, 45, 57]);
  assert.equal(qrCode('x'.repeat(214)), null);
});

test('letters of several bytes count as such', () => assert.equal(qrCode('ü'.repeat(8))?.length, 25));
