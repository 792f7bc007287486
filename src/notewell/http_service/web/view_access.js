// Access: the tokens, the browsers that are logged in, the agents, and the audit log. For admins.

import { get, post, remove } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { day, moment } from "./format.js";
import { withCode } from "./marked.js";
import { toNote } from "./places.js";
import { asker, byPages, empty, failed } from "./states.js";
import { sure } from "./sure.js";

const SCOPES = {
  read: "Read: search and read notes",
  append: "Append: also add entries",
  admin: "Admin: also undo, rebuild, and manage access",
};
const DEEDS = { append: "added an entry", turns: "added turns", undo: "undid a write", rebuild: "rebuilt the index", flush: "flushed", "add agent": "added an agent", "remove agent": "removed an agent", "token made": "made a token", "token revoked": "revoked a token" };

export function open(page) {
  const body = el("div", {});
  const ask = asker(body, "Listing the tokens");
  const node = el("div", { class: "view view-access" }, el("h1", {}, "Access"), body);
  const load = (quietly) =>
    ask(
      async (signal) => [await get("/v1/page/tokens", { signal }), await get("/v1/page/audit", { signal })],
      ([tokens, audit]) => draw(page, body, tokens, audit, () => load(true)),
      { quietly },
    );
  if (page.can("admin")) load(false);
  else fill(body, empty("For admins", "This browser may not manage tokens."));
  return { node, changed: ({ topics }) => topics.has("history") && page.can("admin") && load(true), close: ask.stop };
}

function draw(page, body, { tokens, agents, canChangeAgents }, { lines }, again) {
  const programs = tokens.filter((one) => one.kind === "bearer");
  const browsers = tokens.filter((one) => one.kind === "page").sort((a, b) => b.own - a.own || (a.created < b.created ? 1 : -1));
  const row = (one) => tokenRow(page, one, again);
  fill(
    body,
    part("Tokens", "Programs use them. A token is shown once, when it is made; only its digest is stored.", list(programs, row), maker(page, agents, again)),
    part("Browsers", "Browsers that are logged in.", list(browsers, row)),
    agentsPart(page, agents, canChangeAgents, again),
    part("Audit log", "Who wrote what, and where. The text itself is in the notes.", lines.length ? byPages(lines, auditRow, 50) : el("p", { class: "hint" }, "Nothing was written through this service yet.")),
  );
}

function agentsPart(page, agents, canChange, again) {
  if (!canChange) {
    const names = el("ul", { class: "chips" }, agents.map((name) => el("li", { class: "badge" }, name)));
    return part("Agents", "Agents are configured in the settings file; one that you add there is served a second later.", names);
  }
  const status = el("div", { role: "status" });
  const run = (deed) => deed().then(() => Promise.all([page.meetAgain(), again()]), (error) => fill(status, failed(error)));
  const rows = agents.map((name) => {
    const question = "It is served no more. Its notes stay in the database.";
    const drop = async () => (await sure(`Remove the agent ${name}?`, question, "Remove")) && run(() => remove(`/v1/agents/${encodeURIComponent(name)}`));
    return el("li", { class: "token-row" }, el("b", {}, name), el("button", { type: "button", class: "small", "aria-label": `Remove ${name}`, onClick: drop }, "Remove"));
  });
  const name = el("input", { type: "text", id: "agent-id", required: true, pattern: "[A-Za-z0-9][A-Za-z0-9_\\-]{0,63}", autocomplete: "off" });
  const form = el("form", { class: "maker" }, el("div", { class: "maker-field" }, el("label", { for: "agent-id" }, "New agent"), name), el("button", { type: "submit", class: "strong" }, icon("plus"), "Add the agent"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run(() => post("/v1/agents", { id: name.value.trim() }));
  });
  return part("Agents", "Kept in the database; every replica serves them.", el("ul", { class: "rows" }, rows), form, status);
}

const part = (title, hint, ...content) => el("section", { class: "access-part" }, el("h2", {}, title), el("p", { class: "hint" }, hint), content);

const list = (tokens, row) => (tokens.length ? el("ul", { class: "rows" }, tokens.map(row)) : el("p", { class: "hint" }, "None."));

function tokenRow(page, token, again) {
  const status = el("div", { class: "row-status", role: "status" });
  const revoke = el("button", { type: "button", class: "small", "aria-label": `Revoke ${token.name} ${token.id}` }, "Revoke");
  revoke.addEventListener("click", async () => {
    const own = token.own ? " This is the browser you are using: it is logged out." : "";
    if (!(await sure(`Revoke ${token.name}?`, `Whoever uses it is refused from now on.${own}`, "Revoke"))) return;
    try {
      await remove(`/v1/page/tokens/${token.id}`);
      page.say(`${token.name} is revoked`);
      if (token.own) location.reload();
      else again();
    } catch (error) {
      fill(status, failed(error));
    }
  });
  const facts = [
    el("span", {}, el("code", {}, token.id)),
    el("span", {}, token.scopes.join(", ")),
    el("span", {}, token.agents.includes("*") ? "all agents" : token.agents.join(", ")),
    el("span", {}, token.lastUsed ? `used ${day(token.lastUsed)}` : "never used"),
    token.expires && el("span", {}, `until ${day(token.expires.slice(0, 10))}`),
  ];
  return el(
    "li",
    { class: "token-row" },
    el("div", {}, el("b", {}, token.name), token.own && el("span", { class: "badge" }, "this browser"), el("p", { class: "where" }, facts)),
    revoke,
    status,
  );
}

/** A form that makes a token, and shows its secret once. */
function maker(page, agents, again) {
  const name = el("input", { type: "text", id: "token-name", required: true, maxlength: 64, placeholder: "ci, laptop, …", autocomplete: "off" });
  const scope = el("select", { id: "token-scope" }, Object.entries(SCOPES).map(([value, text]) => el("option", { value }, text)));
  const agent = el("select", { id: "token-agent" }, agents.map((one) => el("option", { value: one }, one)));
  const days = el("select", { id: "token-days" }, [["90", "90 days"], ["365", "a year"], ["", "no end"]].map(([value, text]) => el("option", { value }, text)));
  const status = el("div", { role: "status" });
  const field = (label, input) => el("div", { class: "maker-field" }, el("label", { for: input.id }, label), input);
  const form = el(
    "form",
    { class: "maker" },
    field("Name", name),
    field("May", scope),
    field("Agent", agent),
    field("For", days),
    el("button", { type: "submit", class: "strong" }, icon("plus"), "Make a token"),
    status,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const body = { name: name.value.trim(), scopes: [scope.value], agents: [agent.value], ...(days.value && { days: Number(days.value) }) };
      const { token, secret } = await post("/v1/page/tokens", body);
      showSecret(token, secret, again);
    } catch (error) {
      fill(status, failed(error));
    }
  });
  return form;
}

function showSecret(token, secret, again) {
  const dialog = document.getElementById("sure");
  const copy = el("button", { type: "button", onClick: () => navigator.clipboard?.writeText(secret).then(() => fill(copy, "Copied")) }, "Copy");
  fill(
    dialog,
    el("h2", { id: "sure-title" }, `The token ${token.name}`),
    el("p", {}, "Copy it now: it cannot be shown again."),
    el("p", { class: "secret" }, el("code", {}, secret)),
    el("p", { class: "hint" }, withCode("Send it as `Authorization: Bearer …`.")),
    el("div", { class: "dialog-buttons" }, copy, el("button", { type: "button", class: "strong", onClick: () => dialog.close() }, "Done")),
  );
  dialog.addEventListener("close", () => (fill(dialog), again()), { once: true });
  dialog.showModal();
}

function auditRow(line) {
  const target = line.path?.endsWith(".md") ? el("a", { href: toNote(line.path) }, line.path) : line.path;
  return el(
    "li",
    { class: "one-line" },
    el("span", {}, el("b", {}, line.name), " ", DEEDS[line.what] ?? line.what, " ", target ?? line.called),
    el("p", { class: "where" }, el("time", { datetime: line.at }, moment(line.at)), el("span", {}, line.agent), el("span", {}, el("code", {}, line.token))),
  );
}
