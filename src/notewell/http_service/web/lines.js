// The lines of a note, with chunks and origins in the margin.

import { el } from "./dom.js";
import { counted, moment } from "./format.js";

const BLOCK = 100; // Lines per block: the browser does not render blocks outside the viewport.
const FIRST = 4000; // Further lines are drawn on request.

/** `wanted` is the range of lines in the URL. */
export function drawLines(note, wanted) {
  const lines = note.text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const margin = marginOf(note);
  const kinds = kindsOf(lines);
  const node = el("div", { class: "lines", role: "group", "aria-label": `Text of ${note.path}` });
  const draw = (from, to) => {
    for (let start = from; start < to; start += BLOCK) {
      const block = el("div", { class: "block" });
      for (let at = start; at < Math.min(to, start + BLOCK); at += 1)
        block.append(row(at + 1, lines[at], kinds[at], margin, wanted));
      node.append(block);
    }
  };
  const first = Math.min(lines.length, Math.max(FIRST, wanted ? wanted[1] : 0));
  draw(0, first);
  if (first < lines.length)
    node.append(rest(lines.length - first, () => draw(first, lines.length)));
  return node;
}

function rest(count, draw) {
  const button = el(
    "button",
    { type: "button", class: "more" },
    `Show ${counted(count, "more line")}`,
  );
  button.addEventListener("click", () => {
    button.remove();
    draw();
  });
  return button;
}

/** The chunks and the origin of each line. Chunks may overlap, so there are two lanes. */
function marginOf(note) {
  const chunks = new Map();
  note.chunks.forEach((chunk, place) => {
    for (let line = chunk.startLine; line <= chunk.endLine; line += 1) {
      if (!chunks.has(line)) chunks.set(line, []);
      chunks.get(line).push({ ...chunk, place });
    }
  });
  const origins = new Map();
  for (const origin of note.origins) {
    for (let line = origin.startLine; line <= origin.endLine; line += 1) origins.set(line, origin);
  }
  return { chunks, origins };
}

function row(number, text, kind, margin, wanted) {
  const isWanted = wanted && number >= wanted[0] && number <= wanted[1];
  const lanes = [0, 1].map((side) =>
    lane(
      number,
      (margin.chunks.get(number) ?? []).findLast(({ place }) => place % 2 === side),
    ),
  );
  return el(
    "div",
    { class: `line ${kind}${isWanted ? " is-wanted" : ""}`, "data-line": number },
    origin(margin.origins.get(number), number),
    el("span", { class: "number", "aria-hidden": "true" }, number),
    lanes,
    el("span", { class: "text", dir: "auto" }, text ? withAsides(text) : "\u200b"),
  );
}

/** HTML comments, such as our entry markers, are shown in a weaker colour. */
function withAsides(text) {
  return text
    .split(/(<!--.*?-->)/)
    .map((part, place) => (place % 2 ? el("span", { class: "aside" }, part) : part));
}

function lane(number, chunk) {
  if (!chunk) return el("span", { class: "lane" });
  const ends = `${number === chunk.startLine ? " is-start" : ""}${number === chunk.endLine ? " is-end" : ""}`;
  const title = chunkText(chunk);
  return el("span", {
    class: `lane is-chunk${ends}${chunk.embedded ? "" : " is-waiting"}`,
    title,
    "aria-hidden": "true",
  });
}

/** A text for one chunk, for screen readers and tooltips. */
export function chunkText({ place, startLine, endLine, heading, embedded }) {
  const lines = startLine === endLine ? `line ${startLine}` : `lines ${startLine} to ${endLine}`;
  const below = heading ? `, below ${heading}` : "";
  return `Chunk ${place + 1}: ${lines}${below}${embedded ? "" : "; no vector yet"}`;
}

function origin(one, number) {
  if (!one) return el("span", { class: "origin" });
  const title = `${one.origin}, ${one.at ? moment(one.at) : "at an unknown time"}`;
  if (number !== one.startLine) return el("span", { class: "origin is-origin", title });
  return el(
    "span",
    { class: "origin is-origin is-start", title },
    el("span", { class: "unseen" }, `Written by ${title}: `),
  );
}

/** The kind of each line, for its style: heading, code, list item, quote or text. */
function kindsOf(lines) {
  let fence = "";
  return lines.map((line) => {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence) {
      if (mark?.startsWith(fence)) fence = "";
      return "is-code";
    }
    if (mark) {
      fence = mark;
      return "is-code";
    }
    return kindOf(line);
  });
}

function kindOf(line) {
  const heading = /^(#{1,6})\s/.exec(line);
  if (heading) return `is-heading is-heading-${Math.min(3, heading[1].length)}`;
  if (/^\s*(?:[-*+]|\d+[.)])\s/.test(line)) return "is-entry";
  if (/^\s{0,3}>/.test(line)) return "is-quote";
  return line.trim() ? "" : "is-blank";
}
