// Loading, empty and error states of a view.

import { Problem } from "./api.js";
import { el, fill, icon, keepFocus } from "./dom.js";
import { withCode } from "./marked.js";

/** A skeleton. It fades in late, so that a fast response does not flicker. */
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

/** An empty state with the next step. */
export function empty(title, step, ...more) {
  return el(
    "div",
    { class: "empty" },
    el("h2", {}, title),
    step && el("p", {}, withCode(step)),
    more,
  );
}

/** An error, the next step, and a button to try again. */
export function failed(error, again) {
  const title = error instanceof Problem ? error.title : "An error in this page";
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
 * Loads data, shows a skeleton meanwhile, and draws the data or the error. A second call aborts the
 * first, so that only the newest response is drawn.
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
      const data = await load(mine.signal);
      if (!mine.signal.aborted) keepFocus(node, () => draw(data));
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

/** A long list in pages: thousands of rows at once make a browser slow. */
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
