"use strict";

const EVERY = 1000;
const note = document.getElementById("note");

async function refresh() {
  try {
    const answer = await fetch("/duel/results_table");
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector("tbody").replaceWith(page.querySelector("tbody"));
    note.textContent = "";
  } catch {
    note.textContent = "The server does not answer.";
  }
  setTimeout(refresh, EVERY);
}

setTimeout(refresh, EVERY);
