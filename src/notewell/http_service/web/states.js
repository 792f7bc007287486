// What a view shows when there is nothing to show yet, nothing at all, or trouble.

import { Problem } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { withCode } from "./marked.js";

/** Grey lines; they fade in late, so that a quick answer does not flicker. */
export function loading(what) {
  const lines = [70, 92, 84, 60, 88].map((wide) => {
    const line = el("span", { class: "ghost" });
    line.style.inlineSize = `${wide}%`;
    return line;
  });
  return el(
    "div",
    { class: "loading", role: "status" },
    el("span", { class: "unseen" }, what),
    lines,
  );
}

/** Nothing there, and how to change that. */
export function empty(title, step, ...more) {
  return el(
    "div",
    { class: "empty" },
    el("h2", {}, title),
    step && el("p", {}, withCode(step)),
    more,
  );
}

/** What went wrong, the next step, and a way to try again. */
export function failed(error, again) {
  const title = error instanceof Problem ? error.title : "This page tripped";
  return el(
    "div",
    { class: "empty failed", role: "alert" },
    el("h2", {}, icon("warn"), title),
    el("p", {}, withCode(error.message)),
    error.action && el("p", { class: "next-step" }, withCode(error.action)),
    again && el("button", { type: "button", onClick: again }, icon("again"), "Try again"),
  );
}

/**
 * Asks, shows that it waits, and draws what came or what went wrong. A second call ends the first:
 * the newest question is the only one whose answer is drawn.
 */
export function asker(node, what) {
  let current = null;
  async function ask(load, draw, { quietly = false } = {}) {
    current?.abort();
    const mine = new AbortController();
    current = mine;
    node.setAttribute("aria-busy", "true");
    if (!quietly) fill(node, loading(what));
    try {
      const told = await load(mine.signal);
      if (!mine.signal.aborted) draw(told);
    } catch (error) {
      if (!mine.signal.aborted)
        fill(
          node,
          failed(error, () => ask(load, draw)),
        );
    } finally {
      if (current === mine) node.setAttribute("aria-busy", "false");
    }
  }
  ask.stop = () => current?.abort();
  return ask;
}

/** A long list, a page at a time: five thousand rows at once make any browser stutter. */
export function byPages(items, row, size = 200, list = el("ul", { class: "rows" })) {
  const holder = el("div", {}, list);
  let shown = 0;
  const more = el("button", { type: "button", class: "more", onClick: show });
  function show() {
    list.append(...items.slice(shown, shown + size).map(row));
    shown = Math.min(items.length, shown + size);
    more.textContent = `Show ${Math.min(size, items.length - shown)} more of ${items.length - shown}`;
    if (shown < items.length) holder.append(more);
    else more.remove();
  }
  show();
  return holder;
}
