// Notes: the tree of notes, the calendar, and one note with its chunks.

import { get } from "./api.js";
import { el, fill, settled } from "./dom.js";
import { bytes, counted, longDay } from "./format.js";
import { heatmap } from "./heatmap.js";
import { notePane } from "./note.js";
import { toDay, toNote } from "./places.js";
import { asker, byPages, empty } from "./states.js";
import { drawTree, planted } from "./tree.js";

const FILTER_MS = 120;
const LATEST_DAYS = 10;

export function open(page, where) {
  const view = new NotesView(page, where);
  view.start();
  return {
    node: view.node,
    update: (next) => view.update(next),
    changed: () => view.changed(),
    close: () => view.close(),
  };
}

class NotesView {
  constructor(page, where) {
    this.page = page;
    this.where = where;
    this.notes = [];
    this.days = [];
    this.focusNext = null; // The note whose row gets the focus when the list is drawn.
    this.list = el("div", { class: "pane-body" });
    this.detail = el("div", { class: "detail" });
    this.ask = asker(this.list, "Listing the notes");
    this.askDays = asker(this.detail, "Loading the calendar");
    this.note = notePane(page, () => this.reload());
    this.filter = el("input", {
      type: "search",
      id: "note-filter",
      "data-field": true,
      placeholder: "Filter by name",
      autocomplete: "off",
      spellcheck: "false",
    });
    const filterSoon = settled(FILTER_MS, () => this.drawList());
    this.filter.addEventListener("input", filterSoon);
    this.node = el("div", { class: "view split" }, this.side(), this.detail);
  }

  side() {
    const label = el("label", { class: "unseen", for: "note-filter" }, "Filter by name");
    const head = el("div", { class: "pane-head" }, el("h1", {}, "Notes"), label, this.filter);
    return el("section", { class: "pane", "aria-label": "List of notes" }, head, this.list);
  }

  async start() {
    if (this.where.of) this.drawDetail();
    await this.reload();
    // Without notes there is no calendar: the view is empty or shows an error.
    if (this.notes.length && !this.where.of) this.loadDays();
  }

  reload() {
    const load = (signal) => get("/v1/page/notes", { signal });
    return this.ask(load, ({ notes }) => this.take(notes), { quietly: this.notes.length > 0 });
  }

  /** After a change: reloads the list and the open note. */
  changed() {
    this.reload();
    if (this.where.of) this.note.refresh();
  }

  take(notes) {
    const isSame = JSON.stringify(notes) === JSON.stringify(this.notes);
    this.notes = notes;
    // Drawing the tree again would close the folders that the user has opened.
    if (!isSame || !notes.length) this.drawList();
    if (!notes.length && !this.where.of) fill(this.detail, none());
  }

  loadDays() {
    const load = (signal) => get("/v1/page/days", { signal });
    this.askDays(load, ({ days }) => {
      this.days = days;
      this.drawDetail();
    });
  }

  update(next) {
    const wasNote = this.where.of;
    this.where = next;
    mark(this.list, next.of);
    this.askDays.stop();
    if (next.of || this.days.length) this.drawDetail();
    else if (this.notes.length) this.loadDays();
    if (next.of || !wasNote) return;
    // A note can be closed before the list has arrived.
    if (this.notes.length) this.focusRow(wasNote);
    else this.focusNext = wasNote;
  }

  focusRow(path) {
    const row = leafOf(this.list, path) ?? this.filter;
    row.focus({ preventScroll: true });
  }

  drawList() {
    this.fillList();
    if (this.focusNext) this.focusRow(this.focusNext);
    this.focusNext = null;
  }

  fillList() {
    const wanted = this.filter.value.trim().toLowerCase();
    if (!this.notes.length) return fill(this.list);
    if (!wanted) return fill(this.list, drawTree(planted(this.notes), this.where.of));
    const fitting = this.notes.filter((one) => one.path.toLowerCase().includes(wanted));
    this.page.say(counted(fitting.length, "note"));
    if (fitting.length) return fill(this.list, byPages(fitting, row));
    const step = "This filters by name. To search inside the notes, press `g` `s`.";
    return fill(this.list, empty("No matching name", step));
  }

  drawDetail() {
    const { of, how } = this.where;
    this.node.classList.toggle("has-detail", Boolean(of));
    if (!of) return fill(this.detail, timeline(this.notes, this.days, how.get("day")));
    fill(this.detail, this.note.node);
    this.detail.scrollTop = 0;
    return this.note.show(of, how.get("line"));
  }

  close() {
    this.ask.stop();
    this.askDays.stop();
    this.note.close();
  }
}

function none() {
  const step =
    "Write Markdown files to the folder `memory/` of the workspace, or use `notewell append`. " +
    "New notes appear here automatically.";
  return empty("No notes yet", step);
}

/** Moves only the highlight, so that opened folders stay open. */
function mark(list, path) {
  for (const leaf of list.querySelectorAll("a.leaf")) {
    const isHere = path && leaf.getAttribute("href") === toNote(path);
    if (isHere) leaf.setAttribute("aria-current", "true");
    else leaf.removeAttribute("aria-current");
  }
}

/** After closing a note, the focus returns to its row: in the filter field, j and k are text. */
function leafOf(list, path) {
  const leaves = [...list.querySelectorAll("a[data-row]")];
  const leaf = leaves.find((one) => one.getAttribute("href") === toNote(path));
  return leaf?.checkVisibility() ? leaf : null;
}

function row(note) {
  const facts = [bytes(note.bytes), counted(note.chunks, "chunk")];
  return el(
    "li",
    { class: "one-line" },
    el("a", { class: "row-link", href: toNote(note.path), "data-row": true }, note.path),
    el(
      "p",
      { class: "where" },
      facts.map((fact) => el("span", {}, fact)),
    ),
  );
}

function timeline(notes, days, chosen) {
  if (!days.length) {
    const step =
      "Notes with names like `memory/2026-11-15.md` appear here by day. All others are in the list.";
    return empty("No dated notes", step);
  }
  const map = heatmap(days, chosen, (day) => {
    location.hash = toDay(day);
  });
  return el("div", { class: "timeline" }, map, chosen ? ofDay(chosen, notes) : latest(notes));
}

function ofDay(day, notes) {
  const found = notes.filter((note) => note.day === day);
  const title = el("h2", {}, longDay(day));
  if (found.length) return el("section", {}, title, byPages(found, row));
  return el("section", {}, title, el("p", { class: "hint" }, "There are no notes for this day."));
}

/** The latest days, each with its notes. */
function latest(notes) {
  const dated = notes.filter((note) => note.day).sort((a, b) => (a.day < b.day ? 1 : -1));
  const days = [...new Set(dated.map((note) => note.day))].slice(0, LATEST_DAYS);
  return days.map((day) => ofDay(day, dated));
}
