// The points of the map in words.

import { el } from "./dom.js";
import { counted, month, whole } from "./format.js";

/** An event need not mean a new map; drawing the same one again would move the reader's view. */
export function isSame(a, b) {
  const ends = (map) =>
    JSON.stringify([map.of, map.points.length, map.points[0], map.points.at(-1)]);
  return ends(a) === ends(b);
}

export function nearTold(near) {
  if (near.points.length) return `${counted(near.points.length, "point")} nearest to the question`;
  return near.notice ?? "Nothing on the map is near.";
}

export function viewTold(map, count) {
  const drawn =
    map.of > map.points.length
      ? `; ${whole(map.points.length)} of ${whole(map.of)} are drawn`
      : "";
  return `${counted(count, "point")} in view, the middle first${drawn}`;
}

export function hitOf(map, index) {
  const [, , note, startLine, , source] = map.points[index];
  return { path: map.notes[note], startLine, endLine: startLine, source: map.sources[source] };
}

export function described(map, index) {
  const hit = hitOf(map, index);
  const when = map.months[map.points[index][4]];
  return [el("b", {}, hit.path), ` line ${whole(hit.startLine)}`, when && `, ${month(when)}`];
}
