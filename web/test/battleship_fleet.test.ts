import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boatsIn, boatsOf, isSunk, movedTo, overlapping, packed, randomFleet, rowsOf, turned, type PlacedBoat } from '../src/renderers/battleship_fleet';
import { advice } from '../src/renderers/battleship_placing';

const SEA = { width: 6, height: 5 };
const A: PlacedBoat = { letter: 'A', length: 3, x: 0, y: 0, down: false };
const B: PlacedBoat = { letter: 'B', length: 2, x: 5, y: 1, down: true };

/** The same numbers in each run. */
function dice(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

test('a fleet is written row by row, and read again', () => {
  assert.deepEqual(rowsOf([A, B], SEA), ['AAA...', '.....B', '.....B', '......', '......']);
  assert.deepEqual(boatsIn(['AaA...', '.0...b', '.....B', '......', '......']), [A, B]);
});

test('a boat is sunk when all of its squares are hit', () => {
  assert.equal(isSunk(A, ['XXX...']), true);
  assert.equal(isSunk(A, ['XX....']), false);
  assert.equal(isSunk(B, ['......', '.....X', '.....X']), true);
});

test('a boat stays on the board when it is moved', () => {
  assert.deepEqual(movedTo(A, 9, 9, SEA), { ...A, x: 3, y: 4 });
  assert.deepEqual(movedTo(B, -2, 4, SEA), { ...B, x: 0, y: 3 });
});

test('a boat stays on the board when it is turned, and is not turned where it is too long', () => {
  assert.deepEqual(turned({ ...A, y: 4 }, SEA), { ...A, y: 2, down: true });
  assert.deepEqual(turned(B, SEA), { ...B, x: 4, down: false });
  const long = { ...A, length: 6 };
  assert.equal(turned(long, SEA), long);
});

test('boats that share a square overlap; boats that touch do not', () => {
  assert.deepEqual(overlapping([A, B]), []);
  assert.deepEqual(overlapping([A, { ...B, x: 0, y: 1 }]), []);
  assert.deepEqual(overlapping([{ ...B, x: 1, y: 0 }, A]), ['A', 'B']);
});

test('chance lays out every fleet with each boat once and none on another', () => {
  const boats = boatsOf(['A5', 'B4', 'C3', 'D3', 'E2']);
  for (let seed = 1; seed <= 50; seed++) {
    const fleet = randomFleet(boats, { width: 10, height: 10 }, dice(seed));
    assert.deepEqual(overlapping(fleet), []);
    assert.deepEqual(boatsIn(rowsOf(fleet, { width: 10, height: 10 })).map(({ letter }) => letter).sort(), ['A', 'B', 'C', 'D', 'E']);
  }
});

test('boats that chance walls out are packed', () => {
  const boats = boatsOf(['A5', 'B5', 'C2']);
  const sea = { width: 5, height: 5 };
  assert.deepEqual(rowsOf(packed(boats, sea), sea), ['AAAAA', 'BBBBB', 'CC...', '.....', '.....']);
  const tall = { width: 4, height: 6 };
  assert.deepEqual(rowsOf(packed(boatsOf(['A6', 'B3']), tall), tall), ['AB..', 'AB..', 'AB..', 'A...', 'A...', 'A...']);
  // Chance that always takes the first berth puts A and B so that C2 has none left on a board this small.
  const narrow = { width: 3, height: 2 };
  assert.deepEqual(overlapping(randomFleet(boatsOf(['A2', 'B2', 'C2']), narrow, () => 0.999)), []);
});

test('the player is told what to do next', () => {
  assert.match(advice(['A', 'B'], null, ''), /Boats A and B overlap/);
  assert.match(advice([], null, 'x'), /Drag/);
  assert.match(advice([], 'x', 'x'), /is placed/);
  assert.match(advice([], 'x', 'y'), /changed your fleet/);
});
