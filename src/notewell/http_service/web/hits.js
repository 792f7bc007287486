// Hits, with why each stands where it stands.

import { bar, el } from "./dom.js";
import { age, day, nth, score } from "./format.js";
import { marked, withCode } from "./marked.js";
import { toHit } from "./places.js";
import { empty } from "./states.js";

/**
 * An answer as a list. With `before`, the first setting's hits, each says how far it moved; with
 * `after`, the second's, those say so that are not among them.
 */
export function answer(told, { label, before = null, after = null }) {
  const notice = told.notice && el("p", { class: "notice" }, withCode(told.notice));
  if (!told.results.length) return [notice, nothing(told)];
  const places = new Map((before ?? after ?? []).map((hit, place) => [hit.citation, place]));
  const beside = (hit, place) => {
    const was = places.get(hit.citation);
    if (before) return move(was, place);
    return after && was === undefined ? el("span", { class: "move" }, "not in B") : null;
  };
  const rows = told.results.map((hit, place) => row(hit, beside(hit, place)));
  return [notice, el("ol", { class: "hits", "aria-label": label }, rows)];
}

function nothing(told) {
  return empty(
    "No hits",
    told.reason ?? "Nothing in the memory is close to this. Try other words.",
  );
}

function row(hit, moved) {
  const title = hit.heading ? hit.heading.replaceAll(/(^|› )#+ /g, "$1") : name(hit.path);
  return el(
    "li",
    { class: "hit" },
    el(
      "h2",
      {},
      el("a", { href: toHit(hit), "data-row": true }, title),
      moved,
      el("span", { class: "score", title: "score" }, score(hit.score)),
    ),
    el("p", { class: "where" }, where(hit)),
    el("p", { class: "snippet", dir: "auto" }, marked(hit.snippet, hit.highlights).map(close)),
    hit.parts && parts(hit.parts),
  );
}

function where(hit) {
  const lines =
    hit.startLine === hit.endLine ? `${hit.startLine}` : `${hit.startLine}–${hit.endLine}`;
  const old =
    hit.day &&
    (hit.ageDays === null || hit.ageDays === undefined ? day(hit.day) : age(hit.ageDays));
  return [
    el("span", { class: "path" }, hit.path),
    el("span", {}, hit.startLine === hit.endLine ? `line ${lines}` : `lines ${lines}`),
    hit.source === "sessions" && el("span", { class: "badge" }, "session"),
    old && el("time", { datetime: hit.day, title: day(hit.day) }, old),
  ];
}

/** Empty lines between the lines of a snippet only take room. */
const close = (part) => (typeof part === "string" ? part.replaceAll(/\n\s*\n/g, "\n") : part);

const name = (path) => path.slice(path.lastIndexOf("/") + 1);

function move(was, is) {
  if (was === undefined) return el("span", { class: "move move-new" }, "new");
  if (was === is) return el("span", { class: "move", "aria-label": "same place" }, "=");
  const told = was > is ? `up by ${was - is}` : `down by ${is - was}`;
  const arrow = was > is ? `▲ ${was - is}` : `▼ ${is - was}`;
  return el(
    "span",
    { class: `move ${was > is ? "move-up" : "move-down"}`, role: "img", "aria-label": told },
    arrow,
  );
}

function parts(told) {
  const rows = [
    part("Meaning", told.vector, "bar-vector", told.vectorRank && nth(told.vectorRank)),
    part("Words", told.text, "bar-text", told.textRank && nth(told.textRank)),
    told.decay !== 1 && part("Age leaves", told.decay, "bar-age"),
    told.recency !== 1 &&
      part("Time asked for", told.recency - 1, "bar-age", `× ${score(told.recency)}`),
    told.rerank !== null &&
      told.rerank !== undefined &&
      part("Reranker", told.rerank, "bar-rerank"),
  ];
  return el("dl", { class: "parts" }, rows);
}

function part(label, value, kind, more) {
  const isThere = value !== null && value !== undefined;
  return el(
    "div",
    {},
    el("dt", {}, label),
    el(
      "dd",
      {},
      bar(isThere ? value : 0, kind),
      el("span", { class: "figure" }, isThere ? score(value) : "none"),
      more && el("small", {}, more),
    ),
  );
}
