// Notes: a list of what is remembered beside one note. j and k move through both at once.

import { get } from "./api.js";
import { el, fill, icon, settled } from "./dom.js";
import { counted, day, longDay, whole } from "./format.js";
import { drawFolders } from "./folders.js";
import { notePane } from "./note.js";
import { place, query, toTag } from "./places.js";
import { asker, empty } from "./states.js";

const FOLLOW_MS = 60; // Holding j down must not load every note on the way.
const WIDE = matchMedia("(min-width: 60.01rem)");

export function open(page, where) {
  const view = new NotesView(page, where);
  view.start();
  return {
    node: view.node,
    update: (next) => view.update(next),
    changed: (news) => view.changed(news),
    close: () => view.close(),
  };
}

class NotesView {
  constructor(page, where) {
    this.page = page;
    this.where = where;
    this.cards = [];
    this.total = 0;
    this.next = null;
    this.shown = null; // The path of the note beside the list.
    this.scrolled = 0; // On a phone, where the list was before a note covered it.
    this.focusNext = null; // The note whose row gets the focus when the list is drawn.
    this.list = el("div", { class: "pane-body note-cards" });
    this.detail = el("div", { class: "detail" });
    this.ask = asker(this.list, "Listing the notes");
    this.note = notePane(page, {
      back: () => place("notes", "", this.scope()),
      undone: () => this.reload(),
    });
    this.follow = settled(FOLLOW_MS, (path) => this.preview(path));
    this.filter = el("input", {
      type: "search",
      id: "note-filter",
      "data-field": true,
      placeholder: "Filter",
      autocomplete: "off",
      spellcheck: "false",
      value: where.how.get("filter") ?? "",
    });
    this.filter.addEventListener("input", () => this.filtered());
    this.count = el("span", { class: "count" });
    this.chosen = el("div", { class: "chosen" });
    this.folders = drawFolders(
      () => get("/v1/page/folders"),
      (folder) => place("notes", "", { folder }),
    );
    this.watcher = new IntersectionObserver((seen) => {
      if (seen.some((one) => one.isIntersecting)) this.more();
    });
    this.node = el("div", { class: "view split view-notes" }, this.side(), this.detail);
  }

  side() {
    const add = el(
      "button",
      { type: "button", class: "small", "data-key": "a", title: "Add a note (a)", onClick: this.page.add },
      icon("plus"),
      "Add",
    );
    const head = el(
      "div",
      { class: "pane-head" },
      el("div", { class: "pane-title" }, el("h1", {}, "Notes"), this.count, this.page.can("append") && add),
      el("div", { class: "pane-tools" }, el("label", { class: "unseen", for: "note-filter" }, "Filter notes"), this.filter, this.folders.button),
      this.folders.node,
      this.chosen,
    );
    return el("section", { class: "pane", "aria-label": "List of notes" }, head, this.list);
  }

  /** What the list is limited to: a part of the address. */
  scope() {
    const { how } = this.where;
    return { folder: how.get("folder"), day: how.get("day"), filter: this.filter.value.trim() };
  }

  start() {
    this.drawScope();
    this.list.addEventListener("focusin", (event) => {
      const path = event.target.closest("[data-path]")?.dataset.path;
      if (path && WIDE.matches) this.follow(path);
    });
    if (this.where.of) this.drawNote();
    return this.reload();
  }

  reload() {
    const load = (signal) => get(`/v1/page/cards?${query(this.scope())}`, { signal });
    return this.ask(load, (answer) => this.take(answer), { quietly: this.cards.length > 0 });
  }

  filtered() {
    history.replaceState(null, "", place("notes", this.where.of, this.scope()));
    this.reload();
  }

  changed({ topics }) {
    if (!topics.has("notes") && !topics.has("index")) return;
    this.reload();
    if (this.shown) this.note.refresh();
  }

  take({ cards, total, next = null }) {
    const isSame = total === this.total && JSON.stringify(cards) === JSON.stringify(this.cards.slice(0, cards.length));
    this.count.textContent = whole(total);
    // Drawing the same list again would lose the scroll position.
    if (isSame && this.cards.length) return;
    [this.cards, this.total, this.next] = [cards, total, next];
    this.page.say(counted(total, "note"));
    if (!cards.length) return this.none();
    this.rows = el("ul", { class: "memo-list" });
    fill(this.list, this.rows);
    this.append(cards);
    if (!this.where.of && WIDE.matches) this.preview(cards[0].path, { isFirst: true });
    if (this.focusNext) this.focusRow(this.focusNext);
    this.focusNext = null;
  }

  append(cards) {
    this.end?.remove();
    this.rows.append(...cards.map((card) => this.row(card)));
    if (this.next === null) return;
    this.end = el("button", { type: "button", class: "more", onClick: () => this.more() }, "Show more");
    this.list.append(this.end);
    this.watcher.disconnect();
    this.watcher.observe(this.end);
  }

  async more() {
    const offset = this.next;
    if (offset === null || this.isLoading) return;
    this.isLoading = true;
    try {
      const answer = await get(`/v1/page/cards?${query({ ...this.scope(), offset })}`);
      if (this.next !== offset) return; // Another list was drawn meanwhile.
      this.next = answer.next ?? null;
      this.cards = [...this.cards, ...answer.cards];
      this.append(answer.cards);
    } catch {
      // The button stays: the next press tries again.
    } finally {
      this.isLoading = false;
    }
  }

  none() {
    const { folder, day: chosenDay, filter } = this.scope();
    if (folder || chosenDay || filter) {
      const step = "Names, titles, tags and first lines are compared. `g` `s` searches inside the notes.";
      return fill(this.list, empty("No note fits", step));
    }
    fill(this.list);
    const step =
      "Write Markdown files to the folder `memory/` of the workspace, press `a`, or use `notewell append`. " +
      "New notes appear here by themselves.";
    if (this.where.of) return null;
    // A narrow screen has no place beside the list.
    return fill(WIDE.matches ? this.detail : this.list, empty("No notes yet", step));
  }

  row(card) {
    const at = card.path.lastIndexOf("/") + 1;
    const folder = card.path.slice(0, at).replace(/^memory\//, "").replace(/\/$/, "");
    const iso = card.day ?? card.modified.slice(0, 10);
    return el(
      "li",
      { class: card.pinned ? "memo is-pinned" : "memo" },
      el(
        "a",
        { class: "memo-link", href: place("notes", card.path, this.scope()), "data-row": true, "data-path": card.path, dir: "auto", ...(card.path === this.shown && { "aria-current": "true" }) },
        card.pinned && icon("pin"),
        card.title,
      ),
      el("p", { class: "memo-text", dir: "auto" }, card.text),
      el(
        "p",
        { class: "where" },
        card.pinned ? el("span", { class: "path" }, card.path) : el("time", { datetime: iso }, day(iso)),
        folder && el("span", {}, folder),
        card.tags.map((tag) => el("a", { class: "badge badge-quiet", href: toTag(tag) }, tag)),
      ),
    );
  }

  /** Shows a note beside the list; the focus stays in the list. */
  preview(path, { isFirst = false } = {}) {
    if (path === this.shown) return;
    if (!isFirst) {
      const address = place("notes", path, this.scope());
      history.replaceState(null, "", address);
      this.where = { ...this.where, of: path, how: new URLSearchParams(address.split("?")[1] ?? "") };
    }
    this.show(path, null);
  }

  show(path, line) {
    this.shown = path;
    mark(this.list, path);
    fill(this.detail, this.note.node);
    this.detail.scrollTop = 0;
    this.note.show(path, line);
  }

  drawNote() {
    const { of, how } = this.where;
    const main = document.getElementById("main");
    if (of && !this.node.classList.contains("has-detail")) this.scrolled = main.scrollTop;
    this.node.classList.toggle("has-detail", Boolean(of));
    if (of) return this.show(of, how.get("line"));
    if (!WIDE.matches) main.scrollTop = this.scrolled;
    return null;
  }

  drawScope() {
    const { folder, day: chosenDay } = this.scope();
    const label = chosenDay ? longDay(chosenDay) : folder;
    const close = label && el("a", { class: "button small", href: place("notes"), "aria-label": `${label}: show all notes` }, label, icon("close"));
    fill(this.chosen, close);
  }

  update(next) {
    const before = this.where;
    const listBefore = query(this.scope());
    this.where = next;
    this.filter.value = next.how.get("filter") ?? "";
    if (query(this.scope()) !== listBefore) {
      this.cards = [];
      this.folders.close();
      this.drawScope();
      this.reload();
    }
    this.drawNote();
    if (next.of || !before.of) return;
    // A note can be closed before the list has arrived.
    if (this.cards.length) this.focusRow(before.of);
    else this.focusNext = before.of;
  }

  /** After closing a note, the focus returns to its row: in the filter field, j and k are text. */
  focusRow(path) {
    const row = rowOf(this.list, path) ?? this.filter;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.ask.stop();
    this.follow.cancel();
    this.watcher.disconnect();
    this.note.close();
  }
}

const rowOf = (list, path) =>
  [...list.querySelectorAll("[data-path]")].find((one) => one.dataset.path === path);

/** Moves only the highlight. */
function mark(list, path) {
  for (const row of list.querySelectorAll("[data-path]")) {
    if (row.dataset.path === path) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}
