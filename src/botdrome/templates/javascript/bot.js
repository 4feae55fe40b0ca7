// Reads one message per line from standard input, and answers each view with a move on standard output.
// Standard error is free for messages of your own.
import { createInterface } from 'node:readline';
import { choose } from './strategy.js';

let seed = 1;

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.begin) {
    seed = message.begin.seed; // the same in each run of the same match
    console.log('true'); // ready: from now on the time of moves counts
  } else if (message.view) {
    console.log(JSON.stringify(choose(message.view, seed)));
  }
}
