// Markdown as elements. Every node is made by `el`, so HTML in a note stays text, and no link leaves
// the page.
//
//   lines ── blocks (heading, list, code, quote, table, paragraph) ── inline (bold, code, links)
//
// Each block knows its first and last line, so that the lines of a citation can be highlighted.

import { el } from "./dom.js";
import { inline, MAX_CHARS } from "./markdown_inline.js";

const MAX_DEPTH = 8; // Quotes and lists deeper than this are drawn as text.
const WRAPPED_CHARS = 60; // Lines that are all longer were wrapped by an editor: one paragraph.

const FENCE = /^\s{0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^\s{0,3}([-*_])\s*(?:\1\s*){2,}$/;
const QUOTE = /^\s{0,3}>\s?/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+|$)(.*)$/;
const TABLE_ROW = /^\s*\|.*\|.*\|\s*$/;
const TABLE_RULE = /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/;
/** The first letter is one of a script that is written from the right. */
const FROM_RIGHT = /^\P{L}*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const COMMENT = /^\s*<!--.*-->\s*$/;

/**
 * The elements of `lines`, the first of which is line `first` of the note. `wanted` is the range of
 * lines to highlight; `path` is the note, for relative links.
 */
export function markdown(lines, { first = 1, wanted = null, path = "" } = {}) {
  return blocks(lines, { first, wanted, path, depth: 0 });
}

function blocks(lines, how) {
  const nodes = [];
  for (let at = 0; at < lines.length; ) {
    const [node, next] = block(lines, at, how);
    if (node) nodes.push(node);
    at = next;
  }
  return nodes;
}

/** The element that begins at a line, and the line after it. */
function block(lines, at, how) {
  const line = lines[at];
  if (!line.trim() || COMMENT.test(line)) return [null, at + 1];
  if (FENCE.test(line)) return fence(lines, at, how);
  const heading = HEADING.exec(line);
  if (heading) {
    // The page has an h1 and an h2 of its own above a note.
    const name = `h${Math.min(6, heading[1].length + 1)}`;
    return [placed(name, { class: `md-h${heading[1].length}` }, how, at, at, text(heading[2], how)), at + 1];
  }
  if (RULE.test(line)) return [el("hr", {}), at + 1];
  if (how.depth < MAX_DEPTH && QUOTE.test(line)) return quote(lines, at, how);
  if (how.depth < MAX_DEPTH && ITEM.test(line)) return list(lines, at, how);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) return table(lines, at, how, 1);
  if (TABLE_ROW.test(line)) return table(lines, at, how, 0);
  return paragraph(lines, at, how);
}

function fence(lines, at, how) {
  const [, mark, language] = FENCE.exec(lines[at]);
  let end = at + 1;
  while (end < lines.length && !closes(lines[end], mark)) end += 1;
  const code = lines.slice(at + 1, end).join("\n");
  const inner = el("code", {}, inline(code, { ...how, isCode: true }));
  const title = language.trim() ? { "data-language": language.trim().split(/\s/)[0] } : {};
  // A scrolling block must be reachable by keyboard.
  return [placed("pre", { ...title, tabindex: "0" }, how, at, end, inner), end + 1];
}

const closes = (line, mark) => line.trimStart().startsWith(mark) && !line.trim().slice(mark.length).trim();

function quote(lines, at, how) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return [el("blockquote", {}, blocks(inner, deeper(how, at))), end];
}

function list(lines, at, how) {
  const [, indent, marker] = ITEM.exec(lines[at]);
  const isOrdered = /\d/.test(marker);
  const items = [];
  let next = at;
  while (next < lines.length) {
    const found = ITEM.exec(lines[next]);
    if (!found || found[1].length !== indent.length || /\d/.test(found[2]) !== isOrdered) break;
    const end = itemEnd(lines, next, indent.length);
    items.push(item(lines, next, end, found, how));
    next = end;
  }
  const start = isOrdered && Number.parseInt(marker, 10) !== 1 ? { start: Number.parseInt(marker, 10) } : {};
  // Its marks stand where its text begins. (`dir=auto` does not look into paragraphs with one of their own.)
  const side = FROM_RIGHT.test(lines[at].slice(0, MAX_CHARS)) ? { dir: "rtl" } : {};
  return [el(isOrdered ? "ol" : "ul", { ...start, ...side }, items), next];
}

/** An item ends before the next item of its level, or before text that is not indented. */
function itemEnd(lines, at, indent) {
  let end = at + 1;
  let isBlank = false;
  for (; end < lines.length; end += 1) {
    const line = lines[end];
    if (!line.trim()) {
      isBlank = true;
      continue;
    }
    const depth = line.search(/\S/);
    if (depth <= indent && (isBlank || ITEM.test(line) || HEADING.test(line) || FENCE.test(line))) break;
    isBlank = false;
  }
  return end;
}

function item(lines, at, end, [, indent, marker, space, content], how) {
  const width = indent.length + marker.length + Math.max(1, Math.min(4, space.length));
  const rest = lines.slice(at + 1, end).map((line) => line.slice(Math.min(width, Math.max(0, line.search(/\S/)))));
  const task = /^\[([ xX])\]\s+/.exec(content);
  const own = task ? content.slice(task[0].length) : content;
  const box = task && el("span", { class: "task", role: "img", "aria-label": task[1] === " " ? "open" : "done" }, task[1] === " " ? "☐" : "☑");
  const inner = blocks([own, ...rest], deeper(how, at));
  return el("li", box ? { class: "has-task" } : {}, box, inner);
}

const deeper = (how, at) => ({ ...how, first: how.first + at, depth: how.depth + 1 });

/** With a row of titles and a rule below it; or rows alone, as a snippet has them. */
function table(lines, at, how, titles) {
  const first = at + 2 * titles;
  let end = first;
  while (end < lines.length && lines[end].includes("|") && lines[end].trim()) end += 1;
  const row = (line, name) => el("tr", {}, cells(line).map((cell) => el(name, {}, text(cell, how))));
  const inner = el(
    "table",
    {},
    titles > 0 && el("thead", {}, row(lines[at], "th")),
    el("tbody", {}, lines.slice(first, end).filter((line) => !TABLE_RULE.test(line)).map((line) => row(line, "td"))),
  );
  return [placed("div", { class: "md-table", tabindex: "0" }, how, at, end - 1, inner), end];
}

/** `\|` is not the end of a cell. */
const cells = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

function paragraph(lines, at, how) {
  let end = at + 1;
  while (end < lines.length && !startsBlock(lines, end, how)) end += 1;
  const own = lines.slice(at, end).map((line) => line.replace(/\s+$/, ""));
  const isWrapped = own.slice(0, -1).every((line) => line.length > WRAPPED_CHARS);
  const whole = own.map((line) => line.trim()).join(" ");
  // Bold or code may go on in the next line of a wrapped paragraph.
  const content = isWrapped && whole.length <= MAX_CHARS ? text(whole, how) : own.map((line, place) => [place > 0 && (isWrapped ? " " : el("br", {})), text(line.trim(), how)]);
  return [placed("p", { dir: "auto" }, how, at, end - 1, content), end];
}

function startsBlock(lines, at, how) {
  const line = lines[at];
  if (!line.trim() || COMMENT.test(line) || FENCE.test(line) || HEADING.test(line) || RULE.test(line)) return true;
  if (how.depth >= MAX_DEPTH) return false;
  return QUOTE.test(line) || ITEM.test(line) || TABLE_ROW.test(line) || (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? ""));
}

const text = (source, how) => inline(source, how);

/** An element with its lines. */
function placed(name, props, how, from, to, ...children) {
  const [first, last] = [how.first + from, how.first + to];
  const isWanted = how.wanted && first <= how.wanted[1] && last >= how.wanted[0];
  const kind = [props.class, isWanted && "is-wanted"].filter(Boolean).join(" ");
  return el(name, { ...props, "data-line": first, ...(kind && { class: kind }) }, ...children);
}
