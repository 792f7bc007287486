// Texts for the points of the map.

import { el } from "./dom.js";
import { counted, month, whole } from "./format.js";

/** Not every event means a new map; loading the same one again would reset the view. */
export function isSame(a, b) {
  const ends = (map) =>
    JSON.stringify([map.of, map.points.length, map.points[0], map.points.at(-1)]);
  return ends(a) === ends(b);
}

export function nearText(near) {
  if (near.points.length) return `${counted(near.points.length, "point")} nearest to the query`;
  return near.notice ?? "No point is near.";
}

export function viewText(map, count) {
  const drawn =
    map.of > map.points.length
      ? `; ${whole(map.points.length)} of ${whole(map.of)} are shown`
      : "";
  return `${counted(count, "point")} in view, from the centre${drawn}`;
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
