// Keyboard shortcuts: the whole page can be used without a mouse.

import { el, fill } from "./dom.js";

const VIEWS = {
  s: "search",
  n: "notes",
  t: "timeline",
  c: "sessions",
  m: "map",
  h: "health",
  x: "access",
};
const SECOND_KEY_MS = 1200;

const SHORTCUTS = [
  [
    "Everywhere",
    [
      [["Ctrl", "K"], "go to anything, do anything"],
      [["/"], "search field or filter"],
      [["j", "k"], "next row, previous row"],
      [["Enter"], "open the row"],
      [["Esc"], "leave the field, close, back to where you were"],
      [["t"], "theme: light, dark, system"],
      [["?"], "show this list"],
    ],
  ],
  [
    "Go to",
    [
      [["g", "s"], "Search"],
      [["g", "n"], "Notes"],
      [["g", "t"], "Timeline"],
      [["g", "c"], "Sessions (conversations)"],
      [["g", "m"], "Map"],
      [["g", "h"], "Health"],
      [["g", "x"], "Access (admins)"],
    ],
  ],
  [
    "In notes",
    [
      [["a"], "add a note"],
      [["v"], "source or rendered"],
      [["f"], "folders"],
    ],
  ],
  [
    "In search",
    [
      [["w"], "weights and other settings"],
      [["b"], "compare with a second setting"],
      [["y"], "why is a note not a hit?"],
    ],
  ],
  [
    "On the map",
    [
      [["+"], "zoom in"],
      [["-"], "zoom out"],
      [["0"], "show the whole map"],
      [["←", "→"], "and up, down: move the map"],
      [["p"], "play the months"],
    ],
  ],
];

/** `go(view)` opens a view, `palette()` the list of everything; `back()` goes back. */
export function listenToKeys({ go, theme, palette, back }) {
  const single = {
    "/": toField,
    j: () => step(1),
    k: () => step(-1),
    t: theme,
    "?": showKeys,
    Escape: back,
  };
  let first = -Infinity; // When `g` was pressed.
  addEventListener("keydown", (event) => {
    if (isPalette(event)) return done(event, palette);
    if (isForOthers(event)) return;
    if (isTyping(event.target)) return inField(event);
    const isSecond = event.timeStamp - first < SECOND_KEY_MS;
    first = event.key === "g" && !isSecond ? event.timeStamp : -Infinity;
    if (isSecond && Object.hasOwn(VIEWS, event.key)) done(event, () => go(VIEWS[event.key]));
    else if (Object.hasOwn(single, event.key)) done(event, single[event.key]);
    else press(event);
  });
}

const isPalette = (event) =>
  (event.ctrlKey || event.metaKey) &&
  !event.altKey &&
  event.key.toLowerCase() === "k" &&
  document.querySelector("dialog[open]") === null;

/** Keys for the browser or for an open dialog. */
function isForOthers(event) {
  const isChord = event.ctrlKey || event.metaKey || event.altKey;
  return isChord || event.defaultPrevented || document.querySelector("dialog[open]") !== null;
}

/** A dialog with all shortcuts. */
export function showKeys() {
  const dialog = document.getElementById("help");
  const close = el("button", { type: "button", onClick: () => dialog.close() }, "Close");
  fill(
    dialog,
    el("h2", { id: "help-title" }, "Keys"),
    el("div", { class: "keys" }, SHORTCUTS.map(group)),
    close,
  );
  dialog.showModal();
}

/** Moves the focus to the next or previous visible row. */
export function step(by) {
  const rows = [...document.querySelectorAll("#main [data-row]")].filter((row) =>
    row.checkVisibility(),
  );
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement.closest?.("[data-row]"));
  const next =
    at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by));
  rows[next].focus();
  rows[next].scrollIntoView({ block: "nearest" });
}

function group([title, keys]) {
  const rows = keys.map(([names, what]) => [
    el(
      "dt",
      {},
      names.map((name) => el("kbd", {}, name)),
    ),
    el("dd", {}, what),
  ]);
  return el("section", {}, el("h3", {}, title), el("dl", {}, rows));
}

function isTyping(node) {
  const free = ["checkbox", "radio", "button", "range"];
  return node.matches?.("input, textarea, select") && !free.includes(node.type);
}

function inField(event) {
  const isList = event.target.tagName === "SELECT" || event.target.list;
  if (event.key === "Escape") {
    if (event.target.type === "search") event.preventDefault(); // The browser would clear the field.
    event.target.blur();
  } else if (event.key === "ArrowDown" && !isList) done(event, () => step(1));
}

function toField() {
  const field = document.querySelector("#main [data-field]");
  if (field) {
    field.focus();
    field.select();
  } else location.hash = "#search";
}

/** A button in a view can name its key in `data-key`. */
function press(event) {
  const name = CSS.escape(event.key);
  const button = document.querySelector(`#main [data-key="${name}"]`);
  if (button?.checkVisibility()) done(event, () => button.click());
}

function done(event, what) {
  event.preventDefault();
  what();
}
