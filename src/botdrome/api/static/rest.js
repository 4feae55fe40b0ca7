"use strict";

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function folded(summary) {
  const details = element("details");
  const head = element("summary");
  head.append(...summary);
  const body = element("div");
  details.append(head, body);
  return [details, body];
}

function rows(heads, lines) {
  const table = element("table");
  const head = table.createTHead().insertRow();
  for (const text of heads) head.append(element("th", text));
  const body = table.createTBody();
  for (const line of lines) {
    const row = body.insertRow();
    for (const item of line) row.insertCell().append(item);
  }
  return table;
}

function endpoint(path, method, operation) {
  const [details, body] = folded([element("span", method.toUpperCase(), "method"), element("code", path), ` ${operation.summary}`]);
  if (operation.security) body.append(element("p", "Private: Authorization: Bearer TOKEN", "quiet"));
  const inputs = operation.parameters.map((parameter) => [parameter, element("input")]);
  if (inputs.length) {
    body.append(rows(["Parameter", "", "Value"], inputs.map(([parameter, input]) => [parameter.name, meaning(parameter), input])));
  }
  const answers = Object.entries(operation.responses).map(([status, answer]) => [status, answer.description, contents(answer)]);
  body.append(rows(["Status", "", "Answer"], answers));
  if (method === "get" && !operation.security) body.append(...tryOut(path, inputs));
  return details;
}

function meaning(parameter) {
  const schema = parameter.schema.items ?? parameter.schema;
  const choices = schema.enum ? ` One of ${schema.enum.join(", ")}.` : "";
  const many = parameter.schema.items ? " Here, separate several by commas." : "";
  return (parameter.description ?? "") + choices + many;
}

function contents(answer) {
  return Object.entries(answer.content ?? {}).map(([media, { schema }]) => schema.$ref?.split("/").pop() ?? media).join(", ");
}

function tryOut(path, inputs) {
  const button = element("button", "Try");
  const output = element("pre");
  output.hidden = true;
  button.addEventListener("click", async () => {
    output.hidden = false;
    const address = filled(path, inputs);
    const answer = await fetch(address);
    const text = await answer.text();
    output.textContent = `GET ${address}\n${answer.status}\n\n${pretty(text)}`;
  });
  return [button, output];
}

function filled(path, inputs) {
  const query = new URLSearchParams();
  for (const [parameter, input] of inputs) {
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (parameter.schema.items) input.value.split(",").filter(Boolean).forEach((item) => query.append(parameter.name, item));
    else if (input.value) query.set(parameter.name, input.value);
  }
  return query.size ? `${path}?${query}` : path;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function show() {
  const described = await (await fetch("/api/v1/openapi.json")).json();
  for (const [path, methods] of Object.entries(described.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      document.getElementById("endpoints").append(endpoint(path, method, operation));
    }
  }
  for (const [name, schema] of Object.entries(described.components.schemas)) {
    const [details, body] = folded([element("code", name)]);
    body.append(element("pre", JSON.stringify(schema.properties ?? schema, null, 2)));
    document.getElementById("schemas").append(details);
  }
}

show();
