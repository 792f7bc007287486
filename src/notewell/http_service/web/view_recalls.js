// Recalls: what agents asked and were given; and the notes that nobody ever got.

import { get } from "./api.js";
import { el, fill } from "./dom.js";
import { bytes, clock, counted, day, localDay, longDay, score, took } from "./format.js";
import { toHit, toNote, toRecalls, toSearch } from "./places.js";
import { asker, byPages, empty, failed } from "./states.js";

export function open(page, where) {
  const body = el("div", { class: "recalls" });
  const ask = asker(body, "Reading what was asked");
  const tabs = el("nav", { class: "tabs", "aria-label": "Recalls" });
  const node = el("div", { class: "view view-recalls" }, el("h1", {}, "Recalls"), tabs, body);
  let which = "";

  function update(next, { quietly = false } = {}) {
    which = next.of === "never" ? "never" : "";
    fill(tabs, tab("Asked", "", which), tab("Never recalled", "never", which));
    if (which)
      ask(
        (signal) => get("/v1/page/never", { signal }),
        ({ notes }) => drawNever(page, body, notes),
        { quietly },
      );
    else
      ask(
        (signal) => get("/v1/page/recalls", { signal }),
        (told) => drawAsked(body, told),
        { quietly },
      );
  }

  update(where);
  // The list of those never recalled stays still while one reads it.
  return {
    node,
    update,
    changed: () => !which && isAtTop() && update({ of: which }, { quietly: true }),
    close: ask.stop,
  };
}

const isAtTop = () => document.getElementById("main").scrollTop < 80;

function tab(label, of, which) {
  return el("a", { href: toRecalls(of), ...(of === which && { "aria-current": "page" }) }, label);
}

function drawAsked(body, told) {
  if (told.enabled === false && !told.recalls.length) {
    fill(
      body,
      empty(
        "Questions are not kept",
        "The settings say `recallLog.enabled: false`; set it to true, and what agents ask from then on shows here.",
      ),
    );
    return;
  }
  if (!told.recalls.length) {
    fill(
      body,
      empty(
        "Nobody has asked yet",
        "Give an agent the tools with `notewell mcp` or `notewell hook install`; each question shows here. `recallLog.enabled: false` keeps nothing.",
      ),
    );
    return;
  }
  const list = el("div", {});
  fill(body, list);
  append(list, told, { day: null, rows: null });
}

/** Adds a page of recalls; days go on where the page before ended. */
function append(list, told, at) {
  for (const recall of told.recalls) {
    const iso = localDay(recall.at);
    if (iso !== at.day) {
      at.day = iso;
      at.rows = el("ul", { class: "rows recall-rows" });
      list.append(el("section", {}, el("h2", { class: "group" }, longDay(iso)), at.rows));
    }
    at.rows.append(row(recall));
  }
  if (!told.next) return;
  const more = el("button", { type: "button", class: "more" }, "Show older recalls");
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      const next = await get(`/v1/page/recalls?cursor=${encodeURIComponent(told.next)}`);
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
          title: "Ask the same now",
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
    fill(body, empty("None", "Every note that there is was given to an agent at least once."));
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
  const told = el("p", { class: "hint" });
  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const fitting = all.filter((note) => note.path.toLowerCase().includes(wanted));
    told.textContent = `${counted(fitting.length, "note")} that no agent was ever given, the oldest first. Perhaps they can go, perhaps their words are not those one asks with.`;
    fill(list, byPages(fitting, lonely));
  }
  filter.addEventListener("input", draw);
  draw();
  fill(
    body,
    el("label", { class: "unseen", for: "never-filter" }, "Filter by name"),
    filter,
    told,
    list,
  );
}

function lonely(note) {
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
