// Highlights ranges of a text.

import { el } from "./dom.js";

/**
 * Text nodes, with `mark` applied to each range. The service counts code points, JavaScript counts
 * UTF-16 units: without the conversion, one emoji would shift all later ranges.
 */
export function marked(text, ranges, mark = (part) => el("mark", {}, part)) {
  const points = /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
  const slice = (from, to) =>
    typeof points === "string" ? points.slice(from, to) : points.slice(from, to).join("");
  const parts = [];
  let at = 0;
  for (const [from, to] of joined(ranges, points.length)) {
    if (from > at) parts.push(slice(at, from));
    parts.push(mark(slice(from, to)));
    at = to;
  }
  if (at < points.length) parts.push(slice(at));
  return parts;
}

/** Sorted, inside the text, and without overlaps. */
function joined(ranges, end) {
  const inOrder = (ranges ?? [])
    .map(([from, to]) => [Math.max(0, from), Math.min(end, to)])
    .filter(([from, to]) => from < to)
    .sort((a, b) => a[0] - b[0]);
  const result = [];
  for (const [from, to] of inOrder) {
    const last = result.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

/** Text between backticks becomes code: next steps name commands. */
export function withCode(text) {
  return String(text ?? "")
    .split(/`([^`]+)`/)
    .map((part, place) => (place % 2 ? el("code", {}, part) : part));
}
