"use strict";

document.getElementById("ask").addEventListener("click", async () => {
  const answer = await fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query: document.getElementById("query").value }),
  });
  document.getElementById("answer").textContent = JSON.stringify(await answer.json(), null, 2);
});
