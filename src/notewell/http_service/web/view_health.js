// Health: the state of the memory, and what to do about problems.

import { get, post } from "./api.js";
import { bar, el, fill, icon } from "./dom.js";
import { bytes, counted, moment, money, percent, since, whole } from "./format.js";
import { withCode } from "./marked.js";
import { asker, failed } from "./states.js";

const AGAIN_MS = 30000; // Ages change without an event.

export function open(page) {
  const body = el("div", { class: "health" });
  const ask = asker(body, "Checking");
  const syncStatus = el("div", { class: "sync-status", role: "status" });
  const sync = el("button", { type: "button" }, icon("again"), "Sync now");
  const head = el(
    "div",
    { class: "view-head" },
    el("h1", {}, "Health"),
    page.can("append") && sync,
  );
  const node = el("div", { class: "view view-health" }, head, syncStatus, body);
  const load = (quietly) =>
    ask(
      (signal) => get("/v1/page/health", { signal }),
      (health) => draw(body, health),
      { quietly },
    );
  const timer = setInterval(() => document.hidden || load(true), AGAIN_MS);

  sync.addEventListener("click", async () => {
    sync.disabled = true;
    fill(syncStatus, el("p", { class: "notice" }, "Syncing…"));
    try {
      const report = await post("/v1/sync?wait=30", {});
      fill(
        syncStatus,
        el(
          "p",
          { class: "notice" },
          report.state === "running"
            ? "The sync is still running."
            : "The index is up to date.",
        ),
      );
      load(true);
    } catch (error) {
      fill(syncStatus, failed(error));
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
    leftOut("Ignored", status.ignored),
    leftOut("Unreadable", status.unreadable),
  );
  for (const one of body.querySelectorAll("details")) one.open = open.includes(one.dataset.name);
}

function verdict(status, todo) {
  const isWell =
    !todo.length && status.state === "ready" && !status.problem && !status.lastError;
  const said = isWell
    ? "Everything is OK"
    : status.problem
      ? "The index cannot be used"
      : todo.length
        ? `${counted(todo.length, "problem")} to solve`
        : status.lastError
          ? "The last sync failed"
          : `The index is ${status.state}`;
  return el(
    "div",
    { class: `verdict ${isWell ? "is-well" : "is-ill"}`, role: "status" },
    icon(isWell ? "ok" : "warn"),
    el("div", {}, el("h2", {}, said), el("p", {}, withCode(status.problem ?? status.lastError?.message ?? summary(status)))),
  );
}

function summary(status) {
  if (status.rebuildNeeded) return `The next sync builds a new index: ${status.rebuildNeeded}.`;
  if (status.dirty)
    return `${counted(status.dirty, "note")} changed since the last sync; the next search indexes their words.`;
  return `${counted(status.files, "note")} in ${counted(status.chunks, "chunk")}, all up to date.`;
}

/** Problems first; the checks without findings are folded. */
function findings(all) {
  const todo = all.filter((one) => one.todo);
  const fine = all.filter((one) => !one.todo);
  return [
    todo.length > 0 && el("ul", { class: "findings" }, todo.map(finding)),
    fine.length > 0 &&
      el(
        "details",
        { class: "fold", "data-name": "fine" },
        el("summary", {}, `Checks without problems (${fine.length})`),
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
              " solves it.",
            ],
        ),
    ),
  );
}

const isPresent = (value) => value !== undefined && value !== null;

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
    ? el("span", { class: "badge badge-warn" }, `${whole(status.dirty)} not indexed yet`)
    : null;
  return card(
    "Memory",
    ["On disk", whole(status.eligible)],
    ["Indexed", whole(status.files), waiting],
    ...sources,
  );
}

function indexCard({ status, index, lease }) {
  const { embedded, dims, driver, loadError } = status.vector;
  const share = status.chunks ? embedded / status.chunks : 0;
  return card(
    "Index",
    ["State", status.state],
    ["Size", bytes(index.bytes)],
    isPresent(index.ageS) && ["Last written", since(index.ageS)],
    index.generation && ["File", el("span", { class: "path" }, index.generation)],
    ["Embedded", percent(share), bar(share, "bar-vector")],
    dims && ["Vectors", `${whole(dims)} dimensions, ${driver}`],
    loadError && ["Not loaded", el("span", { class: "is-trouble" }, withCode(loadError))],
    lease.holder && ["Write lease", lease.holder],
  );
}

function embedderCard({ status, embedder }) {
  const lookups = embedder.cacheHits + embedder.cacheMisses;
  const share = lookups ? embedder.cacheHits / lookups : 0;
  return card(
    "Embedder",
    ["Provider", embedder.provider],
    ["Model", el("span", { class: "path" }, embedder.model)],
    status.embedderMissing && [
      "Missing",
      el("span", { class: "is-trouble" }, withCode(status.embedderMissing)),
    ],
    status.embedder?.why && ["Reason", status.embedder.why],
    status.batch.enabled && ["Batch jobs", batchText(status.batch)],
    embedder.calls > 0 && ["Calls", whole(embedder.calls)],
    embedder.tokens > 0 && ["Tokens", whole(embedder.tokens)],
    isPresent(embedder.cost) && ["Cost", money(embedder.cost)],
    embedder.errors > 0 && ["Errors", el("span", { class: "is-trouble" }, whole(embedder.errors))],
    lookups > 0 && ["Cache hits", percent(share), bar(share, "bar-text")],
  );
}

function batchText(batch) {
  if (batch.offBecause) return el("span", { class: "is-trouble" }, batch.offBecause);
  if (batch.failures) return el("span", { class: "is-trouble" }, `${whole(batch.failures)} failed`);
  return `${whole(batch.jobs.length)} at the provider`;
}

function machineCard({ status, disk }) {
  const fallback =
    status.fallback &&
    `${status.fallback.to}, not ${status.fallback.from}: ${status.fallback.reason}`;
  return card(
    "Machine",
    isPresent(disk.freeBytes) && ["Free on disk", bytes(disk.freeBytes)],
    ["Engine", status.backend],
    fallback && [
      "Fallback",
      fallback,
      status.fallback.since && ` since ${moment(status.fallback.since)}`,
    ],
    status.cache && ["Cached vectors", whole(status.cache.entries)],
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
