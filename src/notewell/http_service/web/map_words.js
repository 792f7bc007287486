// Texts for the points of the map.

import { el } from "./dom.js";
import { counted, month, whole } from "./format.js";

/** Not every event means a new map; loading the same one again would reset the view. */
export function isSame(a, b) {
  const ends = (map) =>
    JSON.stringify([map.of, map.labels, map.points.length, map.points[0], map.points.at(-1)]);
  return ends(a) === ends(b);
}

export function nearText(near) {
  if (near.points.length) return `${counted(near.points.length, "point")} nearest to the query`;
  return near.notice ?? "No point is near.";
}

export function viewText(map, count) {
  const drawn =
    map.of > map.points.length
      ? ` The map shows ${whole(map.points.length)} of ${whole(map.of)}.`
      : "";
  return `${counted(count, "point")} in view; the list begins at the centre.${drawn}`;
}

export function hitOf(map, index) {
  const [, , note, startLine, , source] = map.points[index];
  return { path: map.notes[note], startLine, endLine: startLine, source: map.sources[source] };
}

/** The tooltip of a point: at once its note and month; a moment later its first lines. */
export function described(map, index, known) {
  const hit = hitOf(map, index);
  const when = map.months[map.points[index][4]];
  return [
    el("b", { dir: "auto" }, map.titles[map.points[index][2]]),
    known?.heading && el("span", { class: "tip-heading", dir: "auto" }, known.heading),
    known && el("span", { class: "tip-text", dir: "auto" }, known.text),
    el("span", { class: "tip-where" }, [when && month(when), `line ${whole(hit.startLine)}`].filter(Boolean).join(" · ")),
  ];
}
