// Health: is everything found that should be, and if not, what to do.

import { get, post } from "./api.js";
import { bar, el, fill, icon } from "./dom.js";
import { bytes, counted, moment, money, percent, since, whole } from "./format.js";
import { withCode } from "./marked.js";
import { asker, failed } from "./states.js";

const AGAIN_MS = 30000; // An age grows without an event.

export function open(page) {
  const body = el("div", { class: "health" });
  const ask = asker(body, "Looking at everything");
  const told = el("div", { class: "sync-told", role: "status" });
  const sync = el("button", { type: "button" }, icon("again"), "Sync now");
  const head = el(
    "div",
    { class: "view-head" },
    el("h1", {}, "Health"),
    page.can("append") && sync,
  );
  const node = el("div", { class: "view view-health" }, head, told, body);
  const load = (quietly) =>
    ask(
      (signal) => get("/v1/page/health", { signal }),
      (health) => draw(body, health),
      { quietly },
    );
  const timer = setInterval(() => document.hidden || load(true), AGAIN_MS);

  sync.addEventListener("click", async () => {
    sync.disabled = true;
    fill(told, el("p", { class: "notice" }, "Syncing…"));
    try {
      const report = await post("/v1/sync?wait=30", {});
      fill(
        told,
        el(
          "p",
          { class: "notice" },
          report.state === "running"
            ? "It goes on; the figures follow."
            : "In step with the notes.",
        ),
      );
      load(true);
    } catch (error) {
      fill(told, failed(error));
    }
    sync.disabled = false;
  });

  load(false);
  return {
    node,
    changed: () => load(true),
    close: () => {
      clearInterval(timer);
      ask.stop();
    },
  };
}

function draw(body, health) {
  const { status } = health;
  const todo = health.findings.filter((one) => one.todo);
  const open = [...body.querySelectorAll("details[open]")].map((one) => one.dataset.name);
  fill(
    body,
    verdict(status, todo),
    el("section", { "aria-label": "Findings" }, findings(health.findings)),
    el(
      "div",
      { class: "cards" },
      notesCard(status),
      indexCard(health),
      embedderCard(health),
      machineCard(health),
    ),
    leftOut("Left out", status.ignored),
    leftOut("Unreadable", status.unreadable),
  );
  for (const one of body.querySelectorAll("details")) one.open = open.includes(one.dataset.name);
}

function verdict(status, todo) {
  const isWell = !todo.length && status.state === "ready" && !status.problem;
  const said = isWell
    ? "All is well"
    : status.problem
      ? "The index cannot be used"
      : todo.length
        ? `${counted(todo.length, "thing")} to do`
        : `The index is ${status.state}`;
  return el(
    "div",
    { class: `verdict ${isWell ? "is-well" : "is-ill"}`, role: "status" },
    icon(isWell ? "ok" : "warn"),
    el("div", {}, el("h2", {}, said), el("p", {}, withCode(status.problem ?? told(status)))),
  );
}

function told(status) {
  if (status.rebuildNeeded) return `The next sync builds a new index: ${status.rebuildNeeded}.`;
  if (status.dirty)
    return `${counted(status.dirty, "note")} changed since the last sync; searches take them in as they can.`;
  return `${counted(status.files, "note")} in ${counted(status.chunks, "chunk")}, all up to date.`;
}

/** What needs a hand first, the rest folded away. */
function findings(all) {
  const todo = all.filter((one) => one.todo);
  const fine = all.filter((one) => !one.todo);
  return [
    todo.length > 0 && el("ul", { class: "findings" }, todo.map(finding)),
    fine.length > 0 &&
      el(
        "details",
        { class: "fold", "data-name": "fine" },
        el("summary", {}, `Looked at and well (${fine.length})`),
        el("ul", { class: "findings" }, fine.map(finding)),
      ),
  ];
}

function finding(one) {
  const level = one.todo ? (one.level === "error" ? "error" : "warn") : "ok";
  return el(
    "li",
    { class: `finding is-${level}` },
    icon(level === "ok" ? "ok" : "warn"),
    el(
      "div",
      {},
      el(
        "p",
        {},
        el(
          "b",
          { "data-row": one.todo ? true : null, tabindex: one.todo ? "-1" : null },
          one.what,
        ),
        " ",
        el("span", {}, withCode(one.told)),
      ),
      one.todo &&
        el(
          "p",
          { class: "next-step" },
          withCode(one.todo),
          one.fixable &&
            !String(one.todo).includes("doctor --fix") && [
              " ",
              el("code", {}, "notewell doctor --fix"),
              " does it.",
            ],
        ),
    ),
  );
}

const isTold = (value) => value !== undefined && value !== null;

function card(title, ...facts) {
  const rows = facts
    .filter(Boolean)
    .map(([name, value, more]) => [el("dt", {}, name), el("dd", {}, value, more)]);
  return el("section", { class: "card" }, el("h2", {}, title), el("dl", {}, rows));
}

function notesCard(status) {
  const sources = status.sourceCounts.map((one) => [
    one.source === "sessions" ? "Sessions" : "Notes",
    `${whole(one.files)} · ${counted(one.chunks, "chunk")}`,
  ]);
  const waiting = status.dirty
    ? el("span", { class: "badge badge-warn" }, `${whole(status.dirty)} to catch up with`)
    : null;
  return card(
    "Memory",
    ["On disk", whole(status.eligible)],
    ["Indexed", whole(status.files), waiting],
    ...sources,
  );
}

function indexCard({ status, index, lease }) {
  const { embedded, dims, driver } = status.vector;
  const share = status.chunks ? embedded / status.chunks : 0;
  return card(
    "Index",
    ["State", status.state],
    ["Size", bytes(index.bytes)],
    isTold(index.ageS) && ["Written", since(index.ageS)],
    index.generation && ["File", el("span", { class: "path" }, index.generation)],
    ["With a vector", percent(share), bar(share, "bar-vector")],
    dims && ["Vectors", `${whole(dims)} dimensions, ${driver}`],
    lease.holder && ["Being written by", lease.holder],
  );
}

function embedderCard({ status, embedder }) {
  const asked = embedder.cacheHits + embedder.cacheMisses;
  const share = asked ? embedder.cacheHits / asked : 0;
  return card(
    "Embedder",
    ["Provider", embedder.provider],
    ["Model", el("span", { class: "path" }, embedder.model)],
    status.embedderMissing && [
      "Missing",
      el("span", { class: "is-trouble" }, withCode(status.embedderMissing)),
    ],
    status.embedder?.why && ["Chosen", status.embedder.why],
    embedder.calls > 0 && ["Calls", whole(embedder.calls)],
    embedder.tokens > 0 && ["Tokens", whole(embedder.tokens)],
    isTold(embedder.cost) && ["Cost", money(embedder.cost)],
    embedder.errors > 0 && ["Errors", el("span", { class: "is-trouble" }, whole(embedder.errors))],
    asked > 0 && ["From the cache", percent(share), bar(share, "bar-text")],
  );
}

function machineCard({ status, disk }) {
  const fallback = status.fallback && `not ${status.fallback.from}: ${status.fallback.reason}`;
  return card(
    "Machine",
    isTold(disk.freeBytes) && ["Free on disk", bytes(disk.freeBytes)],
    ["Engine", status.backend],
    fallback && [
      "Fallback",
      fallback,
      status.fallback.since && ` since ${moment(status.fallback.since)}`,
    ],
    status.cache && ["Vectors kept", whole(status.cache.entries)],
    status.workspace && ["Workspace", el("span", { class: "path" }, status.workspace)],
  );
}

function leftOut(title, items) {
  if (!items?.length) return null;
  const rows = items.map((one) =>
    el("li", {}, el("span", { class: "path" }, one.path), ` ${one.why}`),
  );
  return el(
    "details",
    { class: "fold", "data-name": title },
    el("summary", {}, `${title} (${whole(items.length)})`),
    el("ul", {}, rows),
  );
}
