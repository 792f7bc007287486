// The hits of a search, with the parts of each score.

import { bar, el } from "./dom.js";
import { age, day, nth, score } from "./format.js";
import { marked, withCode } from "./marked.js";
import { toHit } from "./places.js";
import { empty } from "./states.js";

/**
 * The list of hits. With `before` (the hits of setting A), each hit shows how far it moved. With
 * `after` (the hits of setting B), each hit that B does not have is labelled.
 */
export function answer(response, { label, before = null, after = null }) {
  const notice = response.notice && el("p", { class: "notice" }, withCode(response.notice));
  if (!response.results.length) return [notice, nothing(response)];
  const places = new Map((before ?? after ?? []).map((hit, place) => [hit.citation, place]));
  const beside = (hit, place) => {
    const was = places.get(hit.citation);
    if (before) return move(was, place);
    return after && was === undefined ? el("span", { class: "move" }, "not in B") : null;
  };
  const rows = response.results.map((hit, place) => row(hit, beside(hit, place)));
  return [notice, el("ol", { class: "hits", "aria-label": label }, rows)];
}

function nothing(response) {
  return empty(
    "No hits",
    response.reason ?? "Nothing in the memory matches. Try other words.",
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
    hit.said && el("span", { class: "said" }, said(hit.said)),
    old && el("time", { datetime: hit.day, title: day(hit.day) }, old),
  ];
}

/** Who said it, in which host and folder; the time is beside it. */
const said = ({ speaker, host, folder }) => [speaker, host, folder].filter(Boolean).join(", ");

/** Removes blank lines from a snippet to save space. */
const close = (part) => (typeof part === "string" ? part.replaceAll(/\n\s*\n/g, "\n") : part);

const name = (path) => path.slice(path.lastIndexOf("/") + 1);

function move(was, is) {
  if (was === undefined) return el("span", { class: "move move-new" }, "new");
  if (was === is) return el("span", { class: "move", "aria-label": "same position" }, "=");
  const label = was > is ? `up by ${was - is}` : `down by ${is - was}`;
  const arrow = was > is ? `▲ ${was - is}` : `▼ ${is - was}`;
  return el(
    "span",
    { class: `move ${was > is ? "move-up" : "move-down"}`, role: "img", "aria-label": label },
    arrow,
  );
}

function parts(components) {
  const rows = [
    part("Meaning", components.vector, "bar-vector", components.vectorRank && nth(components.vectorRank)),
    components.window && nearest(components.window),
    part("Words", components.text, "bar-text", components.textRank && nth(components.textRank)),
    components.decay !== 1 && part("Age factor", components.decay, "bar-age"),
    components.recency !== 1 &&
      part("Matching time", components.recency - 1, "bar-age", `× ${score(components.recency)}`),
    components.rerank !== null &&
      components.rerank !== undefined &&
      part("Reranker", components.rerank, "bar-rerank"),
  ];
  return el("dl", { class: "parts" }, rows);
}

const nearest = ({ startLine, endLine, vector }) =>
  part("Nearest lines", vector, "bar-vector", `${startLine}–${endLine}`);

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
