// The hits of a search, with the parts of each score.

import { el } from "./dom.js";
import { age, day, longDay, score } from "./format.js";
import { markdown } from "./markdown.js";
import { inline, withMarks } from "./markdown_inline.js";
import { withCode } from "./marked.js";
import { toHit } from "./places.js";
import { empty } from "./states.js";

/**
 * The list of hits. With `before` (the hits of setting A), each hit shows how far it moved. With
 * `after` (the hits of setting B), each hit that B does not have is labelled.
 */
export function answer(response, { label, before = null, after = null, isNoticed = true }) {
  const notice = isNoticed && noticed(response);
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

/** What the service says about the answer, for example that vectors are missing. */
export const noticed = ({ notice }) => notice && el("p", { class: "notice" }, withCode(notice));

function nothing(response) {
  const reason = response.reason ?? "nothing in the memory matches: try other words";
  return empty("Nothing near", `${reason[0].toUpperCase()}${reason.slice(1)}.`);
}

function row(hit, moved) {
  const headings = hit.heading ? hit.heading.split(" › ").map((part) => part.replace(/^#+ /, "")) : [];
  const title = headings.map((part) => (part === hit.day ? longDay(part) : part)).join(" › ") || untitled(hit);
  return el(
    "li",
    { class: "hit" },
    el(
      "h2",
      {},
      el("a", { href: toHit(hit), "data-row": true, dir: "auto" }, inline(title)),
      el("span", { class: "score" }, moved, el("span", { title: "score" }, score(hit.score))),
    ),
    el("p", { class: "where" }, where(hit)),
    el("div", { class: "snippet md" }, snippet(hit, headings)),
    hit.parts && parts(hit),
  );
}

/** The lines of a hit, rendered; without the headings that are in its title. */
function snippet(hit, titles) {
  const lines = withMarks(hit.snippet, hit.highlights).split("\n");
  const front = hit.startLine === 1 && lines[0] === "---" ? lines.indexOf("---", 1) + 1 : 0;
  // A gap is marked by a line such as `… L12`.
  const own = lines.slice(front).map((line) => (/^… L\d+$/.test(line) ? "" : line));
  const nodes = markdown(closed(own), { path: hit.path });
  const above = titles.map((title) => title.replaceAll("`", ""));
  return nodes.filter((node) => !(/^H\d$/.test(node.tagName) && above.includes(node.textContent)));
}

function where(hit) {
  const old =
    hit.day &&
    (hit.ageDays === null || hit.ageDays === undefined ? day(hit.day) : age(hit.ageDays));
  return [
    el("span", { class: "path" }, hit.path),
    el("span", {}, linesText(hit)),
    hit.source === "sessions" && el("span", { class: "badge" }, "session"),
    hit.said && el("span", { class: "said" }, said(hit.said)),
    old && el("time", { datetime: hit.day, title: day(hit.day) }, old),
  ];
}

const linesText = ({ startLine, endLine }) =>
  startLine === endLine ? `line ${startLine}` : `lines ${startLine}–${endLine}`;

/** Who said it, in which host and folder; the time is beside it. */
const said = ({ speaker, host, folder }) => [speaker, host, folder].filter(Boolean).join(", ");

/** A note of a day is known by its day, another one by its name. */
const untitled = ({ path, day: iso }) => {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/, "");
  return name === iso ? longDay(iso) : name;
};

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

/** A snippet may begin inside a block of code; then its first fence ends the block. */
function closed(lines) {
  const fences = lines.filter((line) => /^\s*(```|~~~)/.test(line));
  return fences.length % 2 && /^\s*(```|~~~)\s*$/.test(fences[0]) ? [fences[0].trim(), ...lines] : lines;
}

/**
 * One bar for the score: its coloured parts add up to it. The service combines both legs with a
 * weight of its own for each hit, `w * meaning + (1 - w) * words`, bends the sum (`bent`), and
 * multiplies it with the factors. So the weight follows from the score.
 */
function parts(hit) {
  const { decay, recency, rerank, window: nearest } = hit.parts;
  const { meaning, words } = shares(hit);
  const said = [
    meaning * hit.score >= 0.005 && fact("key-vector", "Meaning", meaning * hit.score),
    words * hit.score >= 0.005 && fact("key-text", "Words", words * hit.score),
    decay !== 1 && el("span", {}, `age × ${score(decay)}`),
    recency !== 1 && el("span", {}, `time in the query × ${score(recency)}`),
    rerank !== null && rerank !== undefined && el("span", {}, `reranker ${score(rerank)}`),
    nearest && el("span", {}, `nearest: ${linesText(nearest)}`),
  ];
  const bar = el("span", { class: "stack", "aria-hidden": "true" }, part("vector", meaning * hit.score), part("text", words * hit.score));
  return el("p", { class: "parts" }, bar, said);
}

/** How much of a score is meaning and how much is words (both add up to 1), and the weight of meaning. */
export function shares({ score: value, parts: { vector, text, decay, recency, echo = 1, speaker = 1 } }) {
  if (!vector || !text) return vector ? { meaning: 1, words: 0 } : { meaning: 0, words: 1 };
  const sum = unbent(Math.min(1, value / (decay * recency * echo * speaker)));
  const weight = vector === text ? 0.5 : Math.max(0, Math.min(1, (sum - text) / (vector - text)));
  const both = weight * vector + (1 - weight) * text;
  const meaning = both ? (weight * vector) / both : 0.5;
  return { meaning, words: 1 - meaning, weight };
}

const BEND = 3; // The score is s · (1 + BEND) / (1 + BEND · s).
const unbent = (value) => value / (1 + BEND - BEND * value);

function part(kind, share) {
  const node = el("span", { class: `stack-${kind}` });
  node.style.inlineSize = `${share * 100}%`;
  return node;
}

const fact = (kind, label, value) => el("span", { class: `key ${kind}` }, `${label} `, el("b", { class: "figure" }, score(value)));
