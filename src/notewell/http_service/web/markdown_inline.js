// The inline part of Markdown: bold, italic, code, links; and the marks of a search.

import { el } from "./dom.js";
import { toNote } from "./places.js";

export const MAX_CHARS = 5000; // A longer line is data, not prose; patterns on it would be slow.
const MAX_DEPTH = 4;

/** Around highlighted words. Private-use characters, removed from the text of a note first. */
export const MARK_START = "\ue000";
export const MARK_END = "\ue001";
const MARKS = /[\ue000\ue001]/g;
const MARKED = /(\ue000[^\ue001]*\ue001)/;

const TOKEN = new RegExp(
  [
    /\\([!-/:-@[-`{-~])/, // 1: escaped
    /(`+)(.+?)(?<!`)\2(?!`)/, // 2, 3: code
    /<!--.*?-->/,
    /!\[([^\]]*)\]\([^)]*\)/, // 4: image
    /\[([^\][]+)\]\(\s*<?([^)\s>]*)>?[^)]*\)/, // 5, 6: link
    /\[\[([^\]|]+)(?:\|([^\]]+))?\]\]/, // 7, 8: wiki link
    /<((?:https?|mailto):[^>\s]+)>/, // 9: autolink
    /(\*\*|__)(?=\S)(.+?)(?<=\S)\10/, // 10, 11: bold
    /~~(?=\S)(.+?)(?<=\S)~~/, // 12: struck
    /(?<![\w*])([*_])(?=\S)([^*_]+?)(?<=\S)\13(?![\w*])/, // 13, 14: italic
  ]
    .map((one) => one.source)
    .join("|"),
  "g",
);

/** Puts the marks of a search around ranges of a text, for `inline` to draw. */
export function withMarks(source, ranges) {
  // The service counts code points, JavaScript counts UTF-16 units.
  const points = Array.from(source.replace(MARKS, "\ufffd"));
  for (const [from, to] of [...(ranges ?? [])].reverse()) {
    if (from >= to || to > points.length) continue;
    points[to - 1] += MARK_END;
    points[from] = MARK_START + points[from];
  }
  return points.join("");
}

/** Nodes for one text; `isCode` draws nothing but marks. */
export function inline(source, { path = "", isCode = false, level = 0 } = {}) {
  if (isCode || source.length > MAX_CHARS || level > MAX_DEPTH) return plain(source);
  const nodes = [];
  const deeper = (inner) => inline(inner, { path, level: level + 1 });
  let at = 0;
  for (const found of source.matchAll(TOKEN)) {
    nodes.push(...plain(source.slice(at, found.index)));
    nodes.push(...[token(found, path, deeper)].flat());
    at = found.index + found[0].length;
  }
  return [...nodes, ...plain(source.slice(at))];
}

function token(found, path, deeper) {
  const [, escaped, , code, image, label, target, wiki, wikiLabel, auto, , bold, struck, , italic] = found;
  if (escaped !== undefined) return plain(escaped);
  if (code !== undefined) return el("code", {}, plain(code.trim() ? code.replace(/^ (.*) $/, "$1") : code));
  if (image !== undefined) return el("span", { class: "md-image" }, "image", image && [": ", plain(image)]);
  if (label !== undefined) return link(deeper(label), target, path);
  if (wiki !== undefined) return link(plain(wikiLabel ?? wiki), `${wiki.replace(/\.md$/, "")}.md`, path);
  if (auto !== undefined) return link(plain(auto), auto, path);
  if (bold !== undefined) return el("strong", {}, deeper(bold));
  if (struck !== undefined) return el("s", {}, deeper(struck));
  if (italic !== undefined) return el("em", {}, deeper(italic));
  return []; // A comment.
}

/** A link to another note works; any other address is only named, because a note is not trusted. */
function link(content, target, path) {
  const to = target.replace(MARKS, "");
  const note = /^(?![a-z][a-z0-9+.-]*:|\/\/)([^#?]+\.md)(?:#.*)?$/i.exec(to)?.[1];
  if (note) return el("a", { href: toNote(resolved(note, path)) }, content);
  return el("span", { class: "md-address", title: to }, content);
}

/** A relative path, from the folder of the note. */
function resolved(target, path) {
  const parts = target.startsWith("/") ? [] : path.split("/").slice(0, -1);
  let name = target;
  try {
    name = decodeURIComponent(target);
  } catch {
    // A lone %: the name is as it is written.
  }
  for (const part of name.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** Text, with the marks of a search. */
function plain(source) {
  if (!source) return [];
  if (!source.includes(MARK_START) && !source.includes(MARK_END)) return [source];
  return source
    .split(MARKED)
    .map((part) => {
      const bare = part.replace(MARKS, "");
      return part.startsWith(MARK_START) && part.endsWith(MARK_END) ? el("mark", {}, bare) : bare;
    })
    .filter((part) => part !== "");
}
