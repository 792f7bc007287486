// Timeline: what was captured, recalled and changed, and by whom; a calendar; what was never recalled.

import { get } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { bytes, clock, counted, day, localDay, longDay, score } from "./format.js";
import { heatmap } from "./heatmap.js";
import { place, query, toDay, toHit, toNote, toSearch } from "./places.js";
import { asker, byPages, empty, failed } from "./states.js";
import { takeBack } from "./undo.js";

const TABS = { "": "Everything", captured: "Captured", recalled: "Recalled", changed: "Changed", never: "Never recalled" };
/** The topics of events that change a tab. */
const TOPICS = { captured: ["history", "notes"], recalled: ["recall"], changed: ["index", "notes"], never: [] };

export function open(page, where) {
  const body = el("div", { class: "timeline-body" });
  const days = el("div", {});
  const ask = asker(body, "Loading the timeline");
  const tabs = el("nav", { class: "tabs", "aria-label": "Timeline" });
  const node = el("div", { class: "view view-timeline" }, el("h1", {}, "Timeline"), days, tabs, body);
  let which = "";

  function update(next, { quietly = false } = {}) {
    which = Object.hasOwn(TABS, next.of) ? next.of : "";
    fill(tabs, Object.entries(TABS).map(([of, label]) => tab(label, of, which)));
    const current = tabs.querySelector("[aria-current]");
    requestAnimationFrame(() => (tabs.scrollLeft = current.offsetLeft - tabs.offsetLeft - 16));
    if (which === "never")
      return ask((signal) => get("/v1/page/never", { signal }), ({ notes }) => drawNever(body, notes), { quietly });
    const load = (signal) => get(`/v1/page/timeline?${query({ kind: which || "all" })}`, { signal });
    return ask(load, (answer) => draw(page, body, answer, which, () => update({ of: which }, { quietly: true })), { quietly });
  }

  async function loadDays() {
    try {
      const answer = await get("/v1/page/days");
      if (answer.days.length) fill(days, heatmap(answer.days, null, (iso) => (location.hash = toDay(iso))));
    } catch {
      // The list says what is wrong.
    }
  }

  update(where);
  loadDays();
  return {
    node,
    update,
    // Whoever reads further down is not disturbed.
    changed: ({ topics }) => concerns(which, topics) && isAtTop() && update({ of: which }, { quietly: true }),
    close: ask.stop,
  };
}

const concerns = (which, topics) => (TOPICS[which] ?? Object.values(TOPICS).flat()).some((one) => topics.has(one));

const isAtTop = () => document.getElementById("main").scrollTop < 80;

function tab(label, of, which) {
  return el("a", { href: place("timeline", of), ...(of === which && { "aria-current": "page" }) }, label);
}

function draw(page, body, answer, which, again) {
  const isOff = which === "recalled" && !answer.recording;
  if (answer.events.length) {
    const list = el("div", {});
    fill(body, list);
    return append(page, list, answer, which, { day: null, rows: null }, again);
  }
  if (isOff) return fill(body, empty("Searches are not recorded", "The setting `recallLog.enabled` is false. Set it to true to record the searches of agents."));
  return fill(body, empty("Nothing yet", "Connect an agent with `notewell mcp` or `notewell hook install`; what it asks and writes appears here."));
}

/** Adds a page of events; the last day of the page before is continued. */
function append(page, list, answer, which, at, again) {
  for (const event of answer.events) {
    const iso = localDay(event.at);
    if (iso !== at.day) {
      at.day = iso;
      at.rows = el("ol", { class: "events" });
      list.append(el("section", {}, el("h2", { class: "group" }, longDay(iso)), at.rows));
    }
    at.rows.append(row(page, event, again));
  }
  if (!answer.next) return;
  const more = el("button", { type: "button", class: "more" }, "Show older");
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      const next = await get(`/v1/page/timeline?${query({ kind: which || "all", before: answer.next })}`);
      more.remove();
      append(page, list, next, which, at, again);
    } catch (error) {
      more.replaceWith(failed(error));
    }
  });
  list.append(more);
}

/** How an agent was answered, if it was not by meaning and words. */
const MODES = { keyword: "words only", vector: "meaning only", partial: "some vectors were missing" };
const DRAWINGS = { captured: "plus", recalled: "search", changed: "notes" };

function row(page, event, again) {
  const tell = { captured, recalled, changed }[event.kind];
  return el(
    "li",
    { class: `event event-${event.kind}${event.undone ? " is-undone" : ""}` },
    el("time", { class: "at", datetime: event.at }, clock(event.at)),
    el("span", { class: "event-icon" }, icon(DRAWINGS[event.kind])),
    el("div", { class: "row-main" }, tell(event, page, again)),
  );
}

const who = ({ who: tool, by }) => el("b", {}, by ? `${by} (${tool})` : tool);

const noteLink = ({ path }, text) => el("a", { class: "row-link", href: toNote(path), "data-row": true, dir: "auto", title: path }, text ?? path);

function captured(event, page, again) {
  const status = el("div", { role: "status" });
  // An entry is known by what it says, a whole note by its title.
  const headline = (!event.whole && event.text) || event.title;
  const undo = event.canUndo && page.can("admin") && el("button", { type: "button", class: "small", "aria-label": `Undo ${event.id}`, onClick: () => takeBack(page, event.path, event.id, status, again) }, icon("undo"), "Undo");
  return [
    el("div", { class: "event-head" }, noteLink(event, headline), undo),
    event.whole && event.text && el("p", { class: "event-text", dir: "auto" }, event.text),
    el("p", { class: "where" }, el("span", {}, who(event), event.whole ? " wrote this note" : " added an entry"), el("span", { class: "path" }, event.path), event.undone && el("span", { class: "badge" }, "undone")),
    status,
  ];
}

function recalled(event) {
  const count = event.hits.length;
  return [
    el("div", { class: "event-head" }, el("a", { class: "row-link", href: toSearch(event.query), "data-row": true, title: "Search again", dir: "auto" }, event.query || "(masked)")),
    count > 0 && el("ul", { class: "given", "aria-label": counted(count, "hit") }, event.hits.map(given)),
    el("p", { class: "where" }, el("span", {}, who(event), " asked"), el("span", {}, count ? counted(count, "hit") : "no hits"), event.mode in MODES && el("span", {}, MODES[event.mode])),
  ];
}

const SPEAKER = /^(User|Assistant): /; // Of the first turn, by which a conversation is known.
const given = (hit) => el("li", {}, el("a", { href: toHit(hit), title: hit.path, dir: "auto" }, (hit.title ?? hit.path).replace(SPEAKER, "")), el("span", { class: "figure" }, score(hit.score)));

function changed(event) {
  return [
    el("div", { class: "event-head" }, noteLink(event, event.title)),
    event.text && el("p", { class: "event-text", dir: "auto" }, event.text),
    el("p", { class: "where" }, el("span", {}, "changed on disk"), el("span", { class: "path" }, event.path)),
  ];
}

function drawNever(body, notes) {
  if (!notes.length) {
    fill(body, empty("None", "Every note was a hit of an agent's search at least once."));
    return;
  }
  const all = [...notes].sort((a, b) => ((a.day ?? "9") < (b.day ?? "9") ? -1 : 1));
  const filter = el("input", {
    type: "search",
    id: "never-filter",
    "data-field": true,
    placeholder: "Filter by title or name",
    autocomplete: "off",
  });
  const list = el("div", {});
  const hint = el("p", { class: "hint" });
  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const fitting = all.filter(({ title, path }) => `${title} ${path}`.toLowerCase().includes(wanted));
    hint.textContent = `${counted(fitting.length, "note")} that were never a hit of an agent's search, the oldest first. They may be outdated, or they may use other words than the queries.`;
    fill(list, byPages(fitting, neverRow));
  }
  filter.addEventListener("input", draw);
  draw();
  fill(
    body,
    el("label", { class: "unseen", for: "never-filter" }, "Filter by title or name"),
    filter,
    hint,
    list,
  );
}

function neverRow(note) {
  return el(
    "li",
    { class: "one-line" },
    noteLink(note, note.title),
    el(
      "p",
      { class: "where" },
      el("span", { class: "path" }, note.path),
      note.day && el("span", {}, day(note.day)),
      el("span", {}, bytes(note.bytes)),
    ),
  );
}
