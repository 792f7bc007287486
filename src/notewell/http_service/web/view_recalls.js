// Recalls: the searches of agents and their hits; and notes that were never a hit.

import { get } from "./api.js";
import { el, fill } from "./dom.js";
import { bytes, clock, counted, day, localDay, longDay, score, took } from "./format.js";
import { toHit, toNote, toRecalls, toSearch } from "./places.js";
import { asker, byPages, empty, failed } from "./states.js";

export function open(page, where) {
  const body = el("div", { class: "recalls" });
  const ask = asker(body, "Loading the searches");
  const tabs = el("nav", { class: "tabs", "aria-label": "Recalls" });
  const node = el("div", { class: "view view-recalls" }, el("h1", {}, "Recalls"), tabs, body);
  let which = "";

  function update(next, { quietly = false } = {}) {
    which = next.of === "never" ? "never" : "";
    fill(tabs, tab("Searches", "", which), tab("Never recalled", "never", which));
    if (which)
      ask(
        (signal) => get("/v1/page/never", { signal }),
        ({ notes }) => drawNever(page, body, notes),
        { quietly },
      );
    else
      ask(
        (signal) => get("/v1/page/recalls", { signal }),
        (answer) => drawAsked(body, answer),
        { quietly },
      );
  }

  update(where);
  // The list of notes that were never recalled does not change while it is read.
  return {
    node,
    update,
    changed: ({ topics }) => topics.has("recall") && !which && isAtTop() && update({ of: which }, { quietly: true }),
    close: ask.stop,
  };
}

const isAtTop = () => document.getElementById("main").scrollTop < 80;

function tab(label, of, which) {
  return el("a", { href: toRecalls(of), ...(of === which && { "aria-current": "page" }) }, label);
}

function drawAsked(body, recalls) {
  if (recalls.enabled === false && !recalls.recalls.length) {
    fill(
      body,
      empty(
        "Searches are not recorded",
        "The setting `recallLog.enabled` is false. Set it to true to record the searches of agents.",
      ),
    );
    return;
  }
  if (!recalls.recalls.length) {
    fill(
      body,
      empty(
        "No searches yet",
        "Connect an agent with `notewell mcp` or `notewell hook install`; its searches appear here. `recallLog.enabled: false` turns this off.",
      ),
    );
    return;
  }
  const list = el("div", {});
  fill(body, list);
  append(list, recalls, { day: null, rows: null });
}

/** Adds a page of recalls; the last day of the previous page is continued. */
function append(list, page, at) {
  for (const recall of page.recalls) {
    const iso = localDay(recall.at);
    if (iso !== at.day) {
      at.day = iso;
      at.rows = el("ul", { class: "rows recall-rows" });
      list.append(el("section", {}, el("h2", { class: "group" }, longDay(iso)), at.rows));
    }
    at.rows.append(row(recall));
  }
  if (!page.next) return;
  const more = el("button", { type: "button", class: "more" }, "Show older recalls");
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      const next = await get(`/v1/page/recalls?cursor=${encodeURIComponent(page.next)}`);
      more.remove();
      append(list, next, at);
    } catch (error) {
      more.replaceWith(failed(error));
    }
  });
  list.append(more);
}

function row(recall) {
  const facts = [
    recall.tool,
    recall.mode,
    recall.tookMs !== undefined && recall.tookMs !== null && took(recall.tookMs),
  ];
  const count = recall.hits.length;
  return el(
    "li",
    {},
    el("time", { class: "at", datetime: recall.at }, clock(recall.at)),
    el(
      "div",
      { class: "row-main" },
      el(
        "a",
        {
          class: "row-link",
          href: toSearch(recall.query),
          "data-row": true,
          title: "Search again",
          dir: "auto",
        },
        recall.query || "(masked)",
      ),
      el(
        "p",
        { class: "where" },
        facts.filter(Boolean).map((fact) => el("span", {}, fact)),
        !count && el("span", { class: "badge badge-warn" }, "no hits"),
      ),
      count > 0 &&
        el("ul", { class: "given", "aria-label": counted(count, "hit") }, recall.hits.map(given)),
    ),
  );
}

function given(hit) {
  return el(
    "li",
    {},
    el("a", { href: toHit(hit) }, hit.path, el("span", { class: "figure" }, score(hit.score))),
  );
}

function drawNever(page, body, notes) {
  if (!notes.length) {
    fill(body, empty("None", "Every note was a hit of an agent's search at least once."));
    return;
  }
  const all = [...notes].sort((a, b) => ((a.day ?? "9") < (b.day ?? "9") ? -1 : 1));
  const filter = el("input", {
    type: "search",
    id: "never-filter",
    "data-field": true,
    placeholder: "Filter by name",
    autocomplete: "off",
  });
  const list = el("div", {});
  const hint = el("p", { class: "hint" });
  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const fitting = all.filter((note) => note.path.toLowerCase().includes(wanted));
    hint.textContent = `${counted(fitting.length, "note")} that were never a hit of an agent's search, the oldest first. They may be outdated, or they may use other words than the queries.`;
    fill(list, byPages(fitting, neverRow));
  }
  filter.addEventListener("input", draw);
  draw();
  fill(
    body,
    el("label", { class: "unseen", for: "never-filter" }, "Filter by name"),
    filter,
    hint,
    list,
  );
}

function neverRow(note) {
  return el(
    "li",
    { class: "one-line" },
    el("a", { class: "row-link", href: toNote(note.path), "data-row": true }, note.path),
    el(
      "p",
      { class: "where" },
      note.day && el("span", {}, day(note.day)),
      el("span", {}, bytes(note.bytes)),
    ),
  );
}
