// Ctrl-K or Cmd-K: one field for views, notes, searches, agents and actions.

import { get } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { showKeys } from "./keys.js";
import { place, query, toNote, toSearch } from "./places.js";

const NOTES = 8;

export function openPalette(page) {
  const dialog = document.getElementById("palette");
  const field = el("input", {
    type: "text",
    id: "palette-field",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-label": "Go to or do",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Go to a note, a view, or do something",
    autofocus: true,
  });
  const list = el("ul", { id: "palette-list", role: "listbox", "aria-label": "Choices" });
  const state = { items: [], at: 0, asked: null };

  function draw(items) {
    state.items = items;
    state.at = Math.max(0, Math.min(state.at, items.length - 1));
    fill(list, items.length ? items.map((item, place_) => row(item, place_, run)) : el("li", { class: "hint" }, "Nothing fits"));
    point(0);
  }

  function point(by) {
    if (!state.items.length) return;
    state.at = (state.at + by + state.items.length) % state.items.length;
    [...list.children].forEach((one, place_) => one.setAttribute("aria-selected", String(place_ === state.at)));
    field.setAttribute("aria-activedescendant", `palette-${state.at}`);
    list.children[state.at].scrollIntoView({ block: "nearest" });
  }

  function run(item) {
    dialog.close();
    item.run();
  }

  /** What is known here at once; notes arrive a moment later. */
  async function look() {
    const text = field.value.trim();
    const known = fitting(choices(page), text);
    const ask = text ? [searchFor(text)] : [];
    draw([...known, ...ask]);
    state.asked?.abort();
    if (!text) return;
    state.asked = new AbortController();
    try {
      const { signal } = state.asked;
      const { cards } = await get(`/v1/page/cards?${query({ filter: text })}`, { signal });
      const isNamed = ({ title }) => title.toLowerCase().includes(text.toLowerCase());
      const named = [...cards.filter(isNamed), ...cards.filter((card) => !isNamed(card))];
      draw([...known, ...named.slice(0, NOTES).map(noteItem), ...ask]);
    } catch {
      // Without the list of notes, the rest still works.
    }
  }

  field.addEventListener("input", () => {
    state.at = 0;
    look();
  });
  field.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) point(steps[event.key]);
    else if (event.key === "Enter" && state.items.length) run(state.items[state.at]);
    else return;
    event.preventDefault();
  });
  fill(dialog, el("div", { class: "palette-field" }, icon("search"), field), list);
  dialog.onclick = (event) => event.target === dialog && dialog.close();
  dialog.showModal();
  look();
}

function choices(page) {
  const go = (name, title) => ({ kind: "Go to", title, drawing: name, run: () => (location.hash = place(name)) });
  const views = Object.entries(page.views)
    .filter(([name]) => name !== "access" || page.can("admin"))
    .map(([name, [title]]) => go(name, title));
  const act = (title, drawing, run) => ({ kind: "Do", title, drawing, run });
  const agents = (page.me.agents ?? []).filter((name) => name !== page.me.agent);
  return [
    ...views,
    page.can("append") && act("Add a note", "plus", page.add),
    ...["light", "dark", "system"].map((name) => act(`Theme: ${name}`, "theme", () => page.theme(name))),
    act("Keyboard shortcuts", "keys", showKeys),
    ...agents.map((name) => ({ kind: "Agent", title: name, drawing: "sessions", run: () => page.chooseAgent(name) })),
  ].filter(Boolean);
}

const fitting = (items, text) =>
  items.filter(({ kind, title }) => text.toLowerCase().split(/\s+/).every((word) => `${kind} ${title}`.toLowerCase().includes(word)));

const searchFor = (text) => ({ kind: "Search", title: `“${text}”`, drawing: "search", run: () => (location.hash = toSearch(text)) });

const noteItem = ({ title, path }) => ({ kind: "Note", title, more: path, drawing: "notes", run: () => (location.hash = toNote(path)) });

function row(item, at, run) {
  return el(
    "li",
    { id: `palette-${at}`, role: "option", "aria-selected": "false", onClick: () => run(item) },
    icon(item.drawing),
    el("span", { class: "palette-title", dir: "auto" }, item.title, item.more && el("span", { class: "path" }, item.more)),
    el("span", { class: "palette-kind" }, item.kind),
  );
}
