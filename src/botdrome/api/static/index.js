"use strict";

const EVERY = 2000;
const tables = document.getElementById("tables");
const total = document.getElementById("total");
const note = document.getElementById("note");

function cell(row, text, kind) {
  const cell = row.insertCell();
  cell.textContent = text;
  if (kind) cell.className = kind;
  return cell;
}

function show(live) {
  total.textContent = live.total;
  tables.replaceChildren();
  for (const table of live.tables) {
    const row = tables.insertRow();
    const link = document.createElement("a");
    link.href = `/watch/${encodeURIComponent(table.id)}/events`;
    link.textContent = table.id;
    cell(row, "", "id").append(link);
    cell(row, table.game);
    cell(row, table.players.join(" – "));
    cell(row, table.contest ?? "");
    cell(row, table.steps);
    cell(row, table.spectators);
  }
  note.textContent = live.tables.length < live.total ? `The ${live.tables.length} longest running are shown.` : "";
}

async function refresh() {
  try {
    const answer = await fetch("/api/v1/live");
    show(await answer.json());
  } catch {
    note.textContent = "The server does not answer.";
  }
  setTimeout(refresh, EVERY);
}

refresh();
