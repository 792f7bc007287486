// The keyboard: every view can be reached and walked through without a mouse.

import { el, fill } from "./dom.js";

const VIEWS = { s: "search", n: "notes", c: "sessions", h: "health", r: "recalls", m: "map" };
const SECOND_KEY_MS = 1200;

const TOLD = [
  [
    "Everywhere",
    [
      [["/"], "search, or the filter of a list"],
      [["j"], "next row"],
      [["k"], "row before"],
      [["Enter"], "open the row"],
      [["Esc"], "leave the field, close, go back"],
      [["t"], "light, dark, as the system"],
      [["?"], "these keys"],
    ],
  ],
  [
    "Go to",
    [
      [["g", "s"], "Search"],
      [["g", "n"], "Notes"],
      [["g", "c"], "Sessions (conversations)"],
      [["g", "h"], "Health"],
      [["g", "r"], "Recalls"],
      [["g", "m"], "Map"],
    ],
  ],
  [
    "In search",
    [
      [["w"], "weights and other settings"],
      [["b"], "compare with a second setting"],
      [["y"], "why is a note not here?"],
    ],
  ],
  [
    "On the map",
    [
      [["+"], "closer"],
      [["-"], "farther"],
      [["0"], "the whole map"],
      [["←"], "and the other arrows: move it"],
    ],
  ],
];

/** Listens. `go(view)` opens one, `theme()` turns the light on or off, `back()` leaves. */
export function listenToKeys({ go, theme, back }) {
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
    if (isForOthers(event)) return;
    if (isTyping(event.target)) return inField(event);
    const isSecond = event.timeStamp - first < SECOND_KEY_MS;
    first = event.key === "g" && !isSecond ? event.timeStamp : -Infinity;
    if (isSecond && Object.hasOwn(VIEWS, event.key)) done(event, () => go(VIEWS[event.key]));
    else if (Object.hasOwn(single, event.key)) done(event, single[event.key]);
    else press(event);
  });
}

/** The browser's own keys, and those of a dialog. */
function isForOthers(event) {
  const isChord = event.ctrlKey || event.metaKey || event.altKey;
  return isChord || event.defaultPrevented || document.querySelector("dialog[open]") !== null;
}

/** The table of keys, in a dialog. */
export function showKeys() {
  const dialog = document.getElementById("help");
  const close = el("button", { type: "button", onClick: () => dialog.close() }, "Close");
  fill(
    dialog,
    el("h2", { id: "help-title" }, "Keys"),
    el("div", { class: "keys" }, TOLD.map(group)),
    close,
  );
  dialog.showModal();
}

/** Moves the focus to the next or the previous row that can be seen. */
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
    if (event.target.type === "search") event.preventDefault(); // The browser would empty it.
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

/** A button of the view may name the key that presses it. */
function press(event) {
  const name = CSS.escape(event.key);
  const button = document.querySelector(`#main [data-key="${name}"]`);
  if (button?.checkVisibility()) done(event, () => button.click());
}

function done(event, what) {
  event.preventDefault();
  what();
}
