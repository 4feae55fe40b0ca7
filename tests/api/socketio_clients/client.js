// A client of socket.io as a page would have it: told what to do line by line on stdin, and telling on stdout what happens.
// node client.js VERSION URL OPTIONS
const { createRequire } = require("module");
const readline = require("readline");

const [version, url, options] = process.argv.slice(2);
const io = createRequire(process.cwd() + "/")("client-" + version);
const socket = io(url, JSON.parse(options));
const tell = (...words) => process.stdout.write(JSON.stringify(words) + "\n");

socket.on("connect", () => tell("connect", socket.id));
socket.on("disconnect", (reason) => tell("disconnect", reason));
for (const name of ["connect_error", "error"]) {
  socket.on(name, (problem) => tell(name, problem.message || problem));
}
for (const name of ["ECHO", "LAST"]) {
  socket.on(name, (payload) => tell(name, payload));
}
socket.on("TOLD", (text) => tell("TOLD", text.length));
let count = 0;
socket.on("NUMBER", (number) => {
  if (number !== count++) tell("out of order", number);
  if (number % 1000 === 999) tell("NUMBER", number);
});
let watched;
const watch = () => {
  const engine = socket.io.engine;
  if (engine === watched) return;
  watched = engine;
  engine.on("ping", () => tell("ping"));
  engine.on("pong", () => tell("pong"));
};
socket.on("connect", watch);
watch();

const verbs = {
  emit: (...words) => socket.emit(...words),
  ack: (...words) => socket.emit(...words, () => tell("acknowledged")),
  bytes: (text) => socket.emit("ECHO", { text, bytes: Buffer.from(text) }),
  big: (length) => socket.emit("ECHO_LENGTH", "x".repeat(length)),
  settle: (transport) => {
    if (socket.io.engine.transport.name === transport) tell("settled");
    else setTimeout(verbs.settle, 5, transport);
  },
  close: () => socket.close(),
  open: () => {
    if (socket.io.engine.readyState === "closed") socket.open();
    else setTimeout(verbs.open, 5);
  },
};
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [verb, ...words] = JSON.parse(line);
  verbs[verb](...words);
}).on("close", () => process.exit(0));
