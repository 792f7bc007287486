// Routes of this page, in the URL's hash: `#notes/memory/2026-11-15.md?line=3-9`.
// With several agents, the chosen one comes first: `#@coder/notes`.

/** The agent of this page; null is the agent that the service chooses. */
export const here = { agent: null };

/** The agent, the view, the item, and the parameters of a hash. */
export function route(hash = location.hash) {
  const [path, query = ""] = split(hash.replace(/^#/, ""));
  const parts = path.split("/");
  const agent = parts[0].startsWith("@") ? decoded(parts.shift().slice(1)) : null;
  const [view, ...rest] = parts;
  return {
    agent,
    view: view || "search",
    of: rest.map(decoded).join("/"),
    how: new URLSearchParams(query),
  };
}

export const toSearch = (text) => place("search", "", { q: text });
/** The notes with a tag, the newest first. */
export const toTag = (tag) => toSearch(/\s/.test(tag) ? `tag:"${tag}"` : `tag:${tag}`);
export const toNote = (path, lines) => place("notes", path, { line: lines });
export const toDay = (day) => place("notes", "", { day });
export const toSession = (id, line) => place("sessions", id, { line });
/** The path of a transcript is `sessions/<id>.jsonl`. */
const sessionId = (path) => path.replace(/^sessions\//, "").replace(/\.jsonl$/, "");

/** A hit is in a note or in a transcript. */
export function toHit(hit) {
  const lines = `${hit.startLine}-${hit.endLine}`;
  return hit.source === "sessions" || /^sessions\/.*\.jsonl$/.test(hit.path)
    ? toSession(sessionId(hit.path), lines)
    : toNote(hit.path, lines);
}

/** `3-9` or `3` as two numbers. */
export function lines(text) {
  const found = /^(\d+)(?:-(\d+))?$/.exec(text ?? "");
  return found ? [Number(found[1]), Number(found[2] ?? found[1])] : null;
}

/** Parameters as text; empty ones are left out. */
export function query(how) {
  const given = Object.entries(how).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return new URLSearchParams(given).toString();
}

export function place(view, of = "", how = {}) {
  const agent = here.agent ? `@${encodeURIComponent(here.agent)}/` : "";
  const path = of ? `/${of.split("/").map(encodeURIComponent).join("/")}` : "";
  const given = query(how);
  return `#${agent}${view}${path}${given ? `?${given}` : ""}`;
}

function split(text) {
  const at = text.indexOf("?");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // A lone %, typed by hand: keep it as it is.
  }
}
