// One note: rendered or as its lines, the origin of its lines, its history, and undo.

import { get, quoted } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { bytes, counted, longDay, moment } from "./format.js";
import { chunkText, drawLines } from "./lines.js";
import { markdown } from "./markdown.js";
import { lines, toNote, toSearch, toTag } from "./places.js";
import { asker, empty } from "./states.js";
import { takeBack } from "./undo.js";

const RENDERED_LINES = 3000; // The rest of a longer note is in its source, which draws in blocks.

let isSource = false; // Stays as the user left it, from note to note.

/** A pane that shows one note. `back()` is the address of its list, `undone()` is called after an undo. */
export function notePane(page, { back, undone }) {
  const node = el("article", { class: "note", "aria-label": "Note" });
  const ask = asker(node, "Reading the note");
  const shown = { path: null, wanted: null, note: null, text: "" };

  function show(path, line) {
    const quietly = path === shown.path;
    shown.path = path;
    shown.wanted = lines(line);
    ask(
      load,
      (note) => {
        draw(note);
        node.querySelector(".is-wanted")?.scrollIntoView({ block: "center" });
      },
      { quietly },
    );
  }

  /** Draws again only after a change, so that the selection and the scroll position stay. */
  function refresh() {
    const isNew = (note) => JSON.stringify(note) !== shown.text;
    ask(load, (note) => isNew(note) && draw(note), { quietly: true });
  }

  const load = (signal) => get(`/v1/page/note/${quoted(shown.path)}`, { signal });

  function turn() {
    isSource = !isSource;
    page.say(isSource ? "Source" : "Rendered");
    draw(shown.note);
    node.querySelector("[data-key=v]").focus();
  }

  function draw(note) {
    shown.note = note;
    shown.text = JSON.stringify(note);
    const again = () => {
      undone();
      refresh();
    };
    const rest = note.cut && el("p", { class: "notice" }, "The note is longer; the rest is not shown here.");
    fill(node, head(note, back(), turn), body(note, shown.wanted), rest, facts(note), history(page, note, again));
  }
  return { node, show, refresh, close: ask.stop };
}

function head(note, back, turn) {
  return el(
    "header",
    { class: "note-head" },
    el("a", { class: "back", href: back, "data-back": true }, icon("back"), "Notes"),
    el("h1", { dir: "auto" }, titleOf(note)),
    el(
      "p",
      { class: "where" },
      el("span", { class: "path" }, note.path),
      note.tags.map((tag) => el("a", { class: "badge badge-quiet", href: toTag(tag) }, tag)),
    ),
    el(
      "div",
      { class: "note-tools" },
      el("a", { class: "button small", href: toSearch(`${note.title} ${firstWords(note)}`.slice(0, 200)) }, icon("search"), "Similar"),
      el(
        "button",
        { type: "button", class: "small", "data-key": "v", "aria-pressed": String(isSource), title: "The lines of the file (v)", onClick: turn },
        icon("code"),
        "Source",
      ),
    ),
  );
}

const DAY = /^(?:.*\/)?(\d{4}-\d\d-\d\d)\.md$/;

/** In the list, the note of a day is known by what it is about; beside it, its sections say that. */
function titleOf(note) {
  const iso = DAY.exec(note.path)?.[1];
  return iso && !note.frontLines ? longDay(iso) : note.title;
}

/** The first words of the text, for a search of similar notes. */
function firstWords(note) {
  const own = note.text.split("\n").slice(note.frontLines);
  const line = own.find((one) => /\p{L}{3}/u.test(one) && !one.startsWith("#")) ?? "";
  return line.replace(/^[\s>*+-]+/, "");
}

function body(note, wanted) {
  if (!note.text.trim()) return empty("This note is empty", "Searches cannot find it until it has text.");
  if (isSource) return [drawLines(note, wanted), key(note)];
  const all = note.text.split("\n");
  const own = all.slice(note.frontLines, RENDERED_LINES);
  const parts = markdown(own, { first: note.frontLines + 1, wanted, path: note.path });
  // The title of the note stands above; a first heading with the same words would repeat it.
  const repeated = [note.title, DAY.exec(note.path)?.[1]];
  if (/^h[1-6]$/i.test(parts[0]?.tagName) && repeated.includes(parts[0].textContent)) parts.shift();
  const rest = all.length > RENDERED_LINES && el("p", { class: "notice" }, "The rest of this long note is in its source: press v.");
  return [el("div", { class: "md", role: "group", "aria-label": `Text of ${note.path}` }, parts), rest];
}

function key(note) {
  const parts = [
    note.chunks.length > 0 && el("span", {}, "chunk"),
    note.chunks.some((chunk) => !chunk.embedded) && el("span", { class: "key-waiting" }, "no vector"),
    note.origins.length > 0 && el("span", { class: "key-origin" }, "written by Notewell"),
  ];
  return el("p", { class: "margin-key", "aria-hidden": "true" }, parts);
}

function facts(note) {
  if (!note.chunks.length) return el("p", { class: "notice" }, "Not indexed yet; the next sync indexes it.");
  const waiting = note.chunks.filter((chunk) => !chunk.embedded).length;
  const said = [
    bytes(new TextEncoder().encode(note.text).length),
    counted(note.chunks.length, "chunk"),
    waiting > 0 && `${waiting} without a vector`,
  ];
  const rows = note.chunks.map((chunk, at) => el("li", {}, chunkText({ ...chunk, place: at })));
  return el("details", { class: "fold" }, el("summary", {}, said.filter(Boolean).join(" · ")), el("ol", {}, rows));
}

function history(page, note, again) {
  if (!note.history.length) return null;
  const rows = note.history.map((write) => written(page, note, write, again));
  return el("section", { class: "history" }, el("h2", {}, "History"), el("ul", { class: "rows" }, rows));
}

function written(page, note, write, again) {
  const what = write.kind === "note" ? "the whole note" : "an entry";
  const status = el("div", { class: "row-status", role: "status" });
  const undo = el("button", { type: "button", class: "small" }, icon("undo"), "Undo");
  undo.addEventListener("click", () => takeBack(page, note.path, write.id, status, again));
  const said = [
    el("time", { datetime: write.at }, moment(write.at)),
    standsAt(note, write),
    el("span", {}, el("code", {}, write.id)),
    write.undone && el("span", { class: "badge" }, "undone"),
  ];
  return el(
    "li",
    { class: write.undone ? "is-undone" : "" },
    el("div", { class: "row-main" }, el("b", {}, write.origin), ` added ${what}`),
    el("p", { class: "where" }, said),
    write.canUndo && !write.undone && page.can("admin") && undo,
    status,
  );
}

/** A link to the lines that a write added, if they are still there. */
function standsAt(note, write) {
  const origin = note.origins.find((one) => one.id === write.id);
  if (!origin) return null;
  const { startLine, endLine } = origin;
  const said = startLine === endLine ? `line ${startLine}` : `lines ${startLine} to ${endLine}`;
  return el("span", {}, el("a", { href: toNote(note.path, `${startLine}-${endLine}`) }, said));
}
