// Health: the state of the memory, and what to do about problems.

import { get, post } from "./api.js";
import { bar, el, fill, icon } from "./dom.js";
import { bytes, counted, moment, money, percent, since, whole } from "./format.js";
import { withCode } from "./marked.js";
import { asker, failed } from "./states.js";

const AGAIN_MS = 30000; // Ages change without an event.
const WORKING_MS = 1500; // While an index is built, progress is shown this often.

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
      (health) => {
        draw(body, health);
        if (health.activity || health.work.running) loadSoon();
      },
      { quietly },
    );
  const timer = setInterval(() => document.hidden || load(true), AGAIN_MS);
  let soon = 0; // Events of a sync come in dozens.
  const loadSoon = () => {
    soon ||= setTimeout(() => {
      soon = 0;
      load(true);
    }, WORKING_MS);
  };

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
    changed: ({ topics }) => [...topics].some((topic) => topic !== "recall") && loadSoon(),
    close: () => {
      clearInterval(timer);
      clearTimeout(soon);
      ask.stop();
    },
  };
}

function draw(body, health) {
  const { status } = health;
  const state = verdict(health);
  const open = [...body.querySelectorAll("details[open]")].map((one) => one.dataset.name);
  fill(
    body,
    banner(state),
    el("section", { "aria-label": "Findings" }, findings(health.findings, state)),
    el(
      "div",
      { class: "cards" },
      notesCard(status),
      meaningCard(health),
      indexCard(health),
      machineCard(health),
    ),
    leftOut("Ignored", status.ignored),
    leftOut("Unreadable", status.unreadable),
  );
  for (const one of body.querySelectorAll("details")) one.open = open.includes(one.dataset.name);
}

/**
 * One true thing: what runs now; else what is wrong, the worst first; else what waits.
 * `{kind, title, text, step?, share?, finding?}`
 */
function verdict({ status, work, activity, findings: all }) {
  const todo = all.filter((one) => one.todo);
  const worst = todo.find((one) => one.level === "error") ?? todo[0];
  if (activity?.total) return doing(status, activity);
  if (activity) return { kind: "busy", title: "Looking for changes", text: "The notes are being listed." };
  // Another process may write, too.
  if (work.running && isPresent(work.notesBuilt))
    return doing(status, { what: "notes", done: work.notesBuilt, total: status.eligible });
  if (work.running && work.vectorsWaiting)
    return doing(status, { what: "vectors", done: work.vectors, total: work.vectors + work.vectorsWaiting });
  if (status.problem) return { kind: "ill", title: "The index cannot be used", text: status.problem };
  if (status.lastError) return { kind: "ill", title: "The last sync failed", text: status.lastError.message };
  if (!status.eligible)
    return { kind: "wait", title: "No notes yet", text: "Write Markdown files to `memory/`, or add a note here." };
  if (status.state === "missing") return { kind: "wait", title: "Nothing is indexed yet", text: `${counted(status.eligible, "note")} wait for the first sync.`, step: "Press *Sync now*." };
  if (worst) return { kind: "ill", title: worst.what, text: worst.told, step: worst.todo, finding: worst };
  if (status.rebuildNeeded) return { kind: "wait", title: "A new index is due", text: `The next sync builds it: ${status.rebuildNeeded}.` };
  if (status.dirty) return { kind: "wait", title: `${counted(status.dirty, "note")} changed`, text: "The next search indexes the words; vectors follow." };
  if (work.vectorsWaiting) return { kind: "wait", title: `${counted(work.vectorsWaiting, "vector")} to compute`, text: "Words are found already; meaning follows with the next sync." };
  return { kind: "well", title: "Everything is OK", text: `${counted(status.files, "note")} in ${counted(status.chunks, "chunk")}, all up to date.` };
}

/** What runs, and how far it is. */
function doing(status, { what, done, total }) {
  const verb = what === "vectors" ? "Computing vectors" : "Indexing";
  const unit = { notes: "notes", sessions: "sessions" }[what] ?? "";
  const text =
    what === "vectors"
      ? "Words are found already; meaning follows."
      : status.state === "ready"
        ? "What is indexed already answers meanwhile."
        : "Words are found as soon as they are in.";
  return { kind: "busy", title: `${verb}: ${whole(done)} of ${whole(total)} ${unit}`.trim(), text, share: done / Math.max(1, total) };
}

function banner({ kind, title, text, step, share }) {
  const drawing = { well: "ok", ill: "warn", busy: "again", wait: "recalls" }[kind];
  return el(
    "div",
    { class: `verdict is-${kind}`, role: "status" },
    icon(drawing),
    el("div", {}, el("h2", {}, title), el("p", {}, withCode(text)), step && el("p", { class: "next-step" }, withCode(step)), share !== undefined && bar(share, "bar-vector bar-wide")),
  );
}

/** What else is to do; the finding of the verdict is not repeated, and what runs now is waited for. */
function findings(all, state) {
  const todo = state.kind === "busy" ? [] : all.filter((one) => one.todo && one !== state.finding);
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
    `${whole(one.files)} in ${counted(one.chunks, "chunk")}`,
  ]);
  return card(
    "Memory",
    ...sources,
    ["On disk", whole(status.eligible)],
    ["Changed since", whole(status.dirty ?? 0)],
    status.workspace && ["Workspace", el("span", { class: "path" }, status.workspace)],
  );
}

function indexCard({ status, index, lease }) {
  return card(
    "Index",
    ["State", lease.holder ? "being written" : status.state],
    ["Size", bytes(index.bytes)],
    isPresent(index.ageS) && ["Last written", since(index.ageS)],
    index.generation && ["File", el("span", { class: "path" }, index.generation)],
    lease.holder && ["Written by", lease.holder],
  );
}

/** The vectors: how many chunks have one, and why others have none. */
function meaningCard({ status, embedder, work }) {
  const lookups = embedder.cacheHits + embedder.cacheMisses;
  const share = status.chunks ? work.vectors / status.chunks : 0;
  const { dims, driver, loadError } = status.vector;
  return card(
    "Meaning",
    ["Model", el("span", { class: "path" }, `${embedder.provider} ${embedder.model}`)],
    ["Chunks with a vector", `${whole(work.vectors)} of ${whole(status.chunks ?? 0)}`, bar(share, "bar-vector")],
    work.vectorsWaiting > 0 && ["Waiting", counted(work.vectorsWaiting, "chunk")],
    work.vectorsUnread > 0 && ["In another script", `${counted(work.vectorsUnread, "chunk")}: the model does not read it, so words find them`],
    status.embedderMissing && ["Missing", el("span", { class: "is-trouble" }, withCode(status.embedderMissing))],
    loadError && ["Not loaded", el("span", { class: "is-trouble" }, withCode(loadError))],
    dims && ["Vectors", `${whole(dims)} dimensions, ${driver}`],
    status.batch.enabled && ["Batch jobs", batchText(status.batch)],
    embedder.calls > 0 && ["Calls", whole(embedder.calls)],
    embedder.tokens > 0 && ["Tokens", whole(embedder.tokens)],
    isPresent(embedder.cost) && ["Cost", money(embedder.cost)],
    embedder.errors > 0 && ["Errors", el("span", { class: "is-trouble" }, whole(embedder.errors))],
    lookups > 0 && ["Cache hits", percent(embedder.cacheHits / lookups)],
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
