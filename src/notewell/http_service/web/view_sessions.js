// Sessions: the turns of a conversation, with visibly masked secrets.

import { get, quoted } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { bytes, counted, day, month } from "./format.js";
import { marked } from "./marked.js";
import { lines, place, toSession } from "./places.js";
import { asker, empty, failed } from "./states.js";

export function open(page, where) {
  const list = el("div", { class: "pane-body" });
  const detail = el("article", { class: "detail talk", "aria-label": "Conversation" });
  const ask = asker(list, "Listing the sessions");
  const askTalk = asker(detail, "Loading the session");
  const state = { sessions: [], where };
  const side = el(
    "section",
    { class: "pane", "aria-label": "List of sessions" },
    el("div", { class: "pane-head" }, el("h1", {}, "Sessions")),
    list,
  );
  const node = el("div", { class: "view split" }, side, detail);

  function load() {
    return ask(
      (signal) => get("/v1/page/sessions", { signal }),
      (answer) => {
        state.sessions = answer.sessions;
        state.notice = answer.notice;
        drawList(answer.next);
        if (!state.where.of) update(state.where);
      },
      { quietly: state.sessions.length > 0 },
    );
  }

  function drawList(next) {
    if (!state.sessions.length) return fill(list, none(state.notice));
    const more = next && el("button", { type: "button", class: "more" }, "Show older sessions");
    more?.addEventListener("click", () => older(next, more));
    fill(list, byMonth(state.sessions, state.where.of), more);
  }

  async function older(cursor, button) {
    button.disabled = true;
    try {
      const next = await get(`/v1/page/sessions?cursor=${encodeURIComponent(cursor)}`);
      state.sessions = [...state.sessions, ...next.sessions];
      state.isLong = true;
      drawList(next.next);
    } catch (error) {
      button.replaceWith(failed(error, () => older(cursor, button)));
    }
  }

  function update(next) {
    state.where = next;
    node.classList.toggle("has-detail", Boolean(next.of));
    mark(list, next.of);
    if (!next.of) return fill(detail, hint(state.sessions.length));
    const found = state.sessions.find((one) => one.id === next.of);
    const load = (signal) => get(`/v1/page/session/${quoted(next.of)}`, { signal });
    askTalk(load, (talk) => drawTalk(detail, talk, found, lines(next.how.get("line"))));
  }

  load();
  if (where.of) update(where);
  return {
    node,
    update,
    // Reloading would drop the older sessions that the user has loaded.
    changed: ({ topics }) => state.isLong || (topics.has("index") && load()),
    close: () => {
      ask.stop();
      askTalk.stop();
    },
  };
}

function none(notice) {
  return empty(
    "No sessions",
    notice
      ? `${notice}.`
      : "Transcripts are off by default. Set `sources: [memory, sessions]` and `experimental.sessionMemory: true`; see the page on sessions.",
  );
}

function hint(count) {
  return count
    ? el(
        "div",
        { class: "only-wide" },
        empty(
          "Sessions",
          "Select a session to read it. Secrets are masked before they are stored; the transcript file itself is never changed.",
        ),
      )
    : null;
}

function byMonth(sessions, current) {
  const groups = Map.groupBy ? Map.groupBy(sessions, monthOf) : grouped(sessions);
  return [...groups].map(([name, inside]) =>
    el(
      "section",
      {},
      el("h2", { class: "group" }, name),
      el(
        "ul",
        { class: "rows" },
        inside.map((one) => row(one, current)),
      ),
    ),
  );
}

const monthOf = (one) => (one.day ? month(one.day) : "No date");

function grouped(sessions) {
  const groups = new Map();
  for (const one of sessions) groups.set(monthOf(one), [...(groups.get(monthOf(one)) ?? []), one]);
  return groups;
}

function row(one, current) {
  const here = one.id === current ? { "aria-current": "true" } : {};
  const turns =
    one.turns === null || one.turns === undefined ? "not indexed yet" : counted(one.turns, "turn");
  const facts = [one.day && day(one.day), turns, bytes(one.bytes), one.folder];
  return el(
    "li",
    {},
    el("a", { class: "row-link two-lines", href: toSession(one.id), "data-row": true, dir: "auto", title: one.id, ...here }, name(one)),
    el(
      "p",
      { class: "where" },
      facts.filter(Boolean).map((fact) => el("span", {}, fact)),
    ),
  );
}

/** What was said first; the id is for machines. */
const name = (one) => one.title ?? one.id.replace(/^.*\//, "");

function mark(list, id) {
  for (const link of list.querySelectorAll("a.row-link")) {
    if (id && link.getAttribute("href") === toSession(id))
      link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function drawTalk(node, talk, found, wanted) {
  const masks = talk.turns.reduce((sum, turn) => sum + (turn.redactions?.length ?? 0), 0);
  const facts = [
    found?.day && day(found.day),
    counted(talk.turns.length, "turn"),
    masks > 0 && counted(masks, "secret masked", "secrets masked"),
    talk.turns.length > 0 && el("code", {}, name(talk)),
  ];
  const head = el(
    "header",
    { class: "note-head" },
    el("a", { class: "back", href: place("sessions"), "data-back": true }, icon("back"), "Sessions"),
    el("h1", { class: "two-lines", dir: "auto" }, talk.turns[0]?.text || name(talk)),
    el(
      "p",
      { class: "where" },
      facts.filter(Boolean).map((fact) => el("span", {}, fact)),
    ),
  );
  const list = el("ol", { class: "turns" });
  fill(
    node,
    head,
    talk.turns.length
      ? list
      : empty("No text", "Tool calls and their results are left out."),
  );
  goOn(node, list, talk, 0, wanted);
  node.querySelector(".is-wanted")?.scrollIntoView({ block: "center" });
}

/** Adds turns, and a button for the next page. */
function goOn(node, list, talk, first, wanted) {
  list.append(...talk.turns.map((turn, place) => said(turn, first + place, wanted)));
  if (talk.next === null || talk.next === undefined) return;
  const more = el("button", { type: "button", class: "more" }, "Show more turns");
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      const next = await get(`/v1/page/session/${quoted(talk.id)}?cursor=${talk.next}`);
      more.remove();
      goOn(node, list, next, talk.next, wanted);
    } catch (error) {
      more.replaceWith(failed(error));
    }
  });
  node.append(more);
}

/** The lines of a hit are turns: the readable text of a session has one line per turn. */
function said(turn, place, wanted) {
  const isWanted = wanted && place + 1 >= wanted[0] && place + 1 <= wanted[1];
  const who = { user: "User", assistant: "Assistant" }[turn.role] ?? turn.role;
  return el(
    "li",
    {
      class: `turn turn-${turn.role === "user" ? "user" : "other"}${isWanted ? " is-wanted" : ""}`,
    },
    el(
      "p",
      { class: "who" },
      who,
      el("span", { class: "number", title: "line of the transcript" }, turn.line),
    ),
    el("p", { class: "said", dir: "auto" }, marked(turn.text, turn.redactions, masked)),
  );
}

function masked(text) {
  return el(
    "span",
    { class: "redacted", title: "A masked secret; Notewell never stores it" },
    el("span", { class: "unseen" }, "masked: "),
    text,
  );
}
