// The tree of notes by folder. Folders with many dated notes are grouped by year and month.

import { el, icon } from "./dom.js";
import { day, month, whole } from "./format.js";
import { toNote } from "./places.js";
import { byPages } from "./states.js";

const MANY = 40; // Folders with more dated notes are grouped by month.

/**
 * @typedef {{name: string, count: number, folders: Map<string, Folder>, notes: object[]}} Folder
 */

/** Groups notes by folder. `drawTree` draws the result. */
export function planted(notes) {
  const root = folder("");
  for (const note of notes) {
    const parts = note.path.split("/");
    let at = root;
    for (const part of parts.slice(0, -1)) at = child(at, part || "/");
    at.notes.push(note);
  }
  byMonth(root);
  total(root);
  return root;
}

/** Nested lists. The rows of a folder are created when it is first opened. */
export function drawTree(root, current) {
  const list = el("ul", { class: "tree", "aria-label": "Notes by folder" }, rows(root, current));
  // A single top-level folder is opened: there is no choice to make.
  const first = list.firstElementChild?.firstElementChild;
  if (root.folders.size === 1 && first.getAttribute("aria-expanded") === "false") first.click();
  return list;
}

function folder(name) {
  return { name, count: 0, folders: new Map(), notes: [] };
}

function child(at, name) {
  if (!at.folders.has(name)) at.folders.set(name, folder(name));
  return at.folders.get(name);
}

function byMonth(at) {
  for (const one of at.folders.values()) byMonth(one);
  const dated = at.notes.filter((note) => note.day);
  if (dated.length <= MANY) return;
  at.notes = at.notes.filter((note) => !note.day);
  // The newest first: a Map keeps the order in which it was filled.
  for (const note of dated.sort((a, b) => (a.day < b.day ? 1 : -1))) {
    child(child(at, note.day.slice(0, 4)), month(note.day)).notes.push(note);
  }
}

function total(at) {
  const inner = [...at.folders.values()].reduce((sum, one) => sum + total(one), 0);
  at.count = inner + at.notes.length;
  return at.count;
}

function rows(at, current) {
  const folders = [...at.folders.values()].map((one) => branch(one, current));
  if (at.notes.length <= 200) return [...folders, ...at.notes.map((note) => leaf(note, current))];
  const long = byPages(at.notes, (note) => leaf(note, current), 200, el("ul", { class: "tree" }));
  return [...folders, el("li", {}, long)];
}

function branch(one, current) {
  const list = el("ul", { hidden: true });
  const button = el(
    "button",
    { type: "button", class: "branch", "data-row": true, "aria-expanded": "false" },
    icon("chevron"),
    el("span", { class: "branch-name" }, one.name),
    el("span", { class: "count" }, whole(one.count)),
  );
  function turn(open) {
    if (open && !list.childElementCount) list.append(...rows(one, current));
    list.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  }
  button.addEventListener("click", () => turn(list.hidden));
  button.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") turn(true);
    if (event.key === "ArrowLeft") turn(false);
  });
  if (one.count <= 12 || holds(one, current)) turn(true);
  return el("li", {}, button, list);
}

const holds = (at, path) =>
  at.notes.some((note) => note.path === path) ||
  [...at.folders.values()].some((one) => holds(one, path));

function leaf(note, current) {
  const name = note.path.slice(note.path.lastIndexOf("/") + 1);
  const here = note.path === current ? { "aria-current": "true" } : {};
  const title = note.day ? `${note.path}, ${day(note.day)}` : note.path;
  return el(
    "li",
    {},
    el("a", { class: "leaf", href: toNote(note.path), "data-row": true, title, ...here }, name),
  );
}
