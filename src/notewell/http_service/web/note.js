// One note: its text, its chunks, the origin of its lines, its history, and undo.

import { get, post, quoted } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { bytes, counted, moment } from "./format.js";
import { chunkText, drawLines } from "./lines.js";
import { lines, toNote, toSearch } from "./places.js";
import { asker, empty, failed } from "./states.js";
import { sure } from "./sure.js";

/** A pane that shows one note. */
export function notePane(page, undone) {
  const node = el("article", { class: "note", "aria-label": "Note" });
  const ask = asker(node, "Reading the note");
  const shown = { path: null, wanted: null, text: "" };

  function show(path, line) {
    const quietly = path === shown.path;
    shown.path = path;
    shown.wanted = lines(line);
    const arrive = (note) => {
      draw(note);
      node.querySelector(".is-wanted")?.scrollIntoView({ block: "center" });
    };
    ask(load, arrive, { quietly });
  }

  /** Draws again only after a change, so that the selection and the scroll position stay. */
  function refresh() {
    const isNew = (note) => JSON.stringify(note) !== shown.text;
    ask(load, (note) => isNew(note) && draw(note), { quietly: true });
  }

  const load = (signal) => get(`/v1/page/note/${quoted(shown.path)}`, { signal });

  function draw(note) {
    shown.text = JSON.stringify(note);
    const again = () => {
      undone();
      refresh();
    };
    const long = "The note is longer; the rest is not shown here.";
    const rest = note.cut && el("p", { class: "notice" }, long);
    const text = body(note, shown.wanted);
    fill(node, head(note), text, rest, chunkList(note), history(page, note, again));
  }
  return { node, show, refresh, close: ask.stop };
}

function head(note) {
  const at = note.path.lastIndexOf("/") + 1;
  const waiting = note.chunks.filter((chunk) => !chunk.embedded).length;
  const facts = [
    bytes(new TextEncoder().encode(note.text).length),
    counted(note.chunks.length, "chunk"),
    waiting > 0 && `${waiting} without a vector`,
  ];
  return el(
    "header",
    { class: "note-head" },
    el("a", { class: "back", href: "#notes", "data-back": true }, icon("back"), "Notes"),
    el(
      "h1",
      {},
      at > 0 && el("span", { class: "folder" }, note.path.slice(0, at)),
      note.path.slice(at),
    ),
    el(
      "p",
      { class: "where" },
      facts.filter(Boolean).map((fact) => el("span", {}, fact)),
    ),
    el(
      "a",
      { class: "button", href: toSearch(firstWords(note.text)) },
      icon("search"),
      "Similar notes",
    ),
  );
}

/** The first line with content, as a query. */
function firstWords(text) {
  const line =
    text
      .split("\n")
      .find((one) => /\p{L}{3}/u.test(one) && !/^#?\s*\d{4}-\d\d-\d\d\s*$/.test(one)) ?? "";
  return line.replace(/^[\s#>*+-]+/, "").slice(0, 200);
}

function body(note, wanted) {
  if (note.text.trim()) return drawLines(note, wanted);
  return empty("This note is empty", "Searches cannot find it until it has text.");
}

function chunkList(note) {
  if (!note.chunks.length) {
    return el("p", { class: "notice" }, "Not indexed yet; the next sync indexes it.");
  }
  const rows = note.chunks.map((chunk, place) => el("li", {}, chunkText({ ...chunk, place })));
  const key = [
    el("span", {}, "chunk"),
    note.chunks.some((chunk) => !chunk.embedded) &&
      el("span", { class: "key-waiting" }, "no vector yet"),
    note.origins.length > 0 && el("span", { class: "key-origin" }, "written by Notewell"),
  ];
  return [
    el("p", { class: "margin-key", "aria-hidden": "true" }, key),
    el(
      "details",
      { class: "fold" },
      el("summary", {}, `Chunks (${note.chunks.length})`),
      el("ol", {}, rows),
    ),
  ];
}

function history(page, note, again) {
  const writes = note.history;
  const rows = writes.map((write) => written(page, note, write, again));
  return el(
    "section",
    { class: "history" },
    el("h2", {}, "History"),
    rows.length
      ? el("ul", { class: "rows" }, rows)
      : el("p", { class: "hint" }, "Notewell has not written to this note."),
  );
}

function written(page, note, write, again) {
  const what = write.kind === "note" ? "the whole note" : "an entry";
  const status = el("div", { class: "row-status", role: "status" });
  const undo = el("button", { type: "button", class: "small" }, icon("undo"), "Undo");
  undo.addEventListener("click", () => takeBack(page, note, write, status, again));
  const facts = [
    el("time", { datetime: write.at }, moment(write.at)),
    standsAt(note, write),
    el("span", {}, el("code", {}, write.id)),
    write.undone && el("span", { class: "badge" }, "undone"),
  ];
  return el(
    "li",
    { class: write.undone ? "is-undone" : "" },
    el("div", { class: "row-main" }, el("b", {}, write.origin), ` added ${what}`),
    el("p", { class: "where" }, facts),
    write.canUndo && !write.undone && page.can("admin") && undo,
    status,
  );
}

/** A link to the lines that a write added, if they are still there. */
function standsAt(note, write) {
  const origin = note.origins.find((one) => one.id === write.id);
  if (!origin) return null;
  const { startLine, endLine } = origin;
  const text = startLine === endLine ? `line ${startLine}` : `lines ${startLine} to ${endLine}`;
  return el("span", {}, el("a", { href: toNote(note.path, `${startLine}-${endLine}`) }, text));
}

async function takeBack(page, note, write, status, again) {
  const question =
    "This removes exactly the text that was added. The rest of the note does not change.";
  if (!(await sure(`Undo ${write.id} in ${note.path}?`, question, "Undo"))) return;
  try {
    await post(`/v1/page/undo/${encodeURIComponent(write.id)}`, {});
    page.say(`${write.id} is undone`);
    again();
  } catch (error) {
    fill(status, failed(error));
  }
}
