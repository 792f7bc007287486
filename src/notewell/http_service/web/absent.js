// "Why is this note not a hit?": a form below the hits.

import { get, post } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { withCode } from "./marked.js";
import { query } from "./places.js";
import { failed, loading } from "./states.js";

const OFFERED = 30; // More suggestions cannot be read while typing.

/** `question()` returns the current query. */
export function absent(question) {
  const names = el("datalist", { id: "absent-names" });
  const field = el("input", {
    type: "text",
    id: "absent-path",
    list: "absent-names",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "memory/2026-11-15.md",
  });
  const reason = el("div", { class: "absent-status", role: "status" });
  const form = el(
    "form",
    { class: "absent" },
    el("label", { for: "absent-path" }, "Why is this note not a hit?"),
    el("div", { class: "absent-row" }, field, el("button", { type: "submit" }, "Explain"), names),
    reason,
  );
  const offer = offerer(names);
  field.addEventListener("focus", () => offer(field.value));
  field.addEventListener("input", () => offer(field.value));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    explain(reason, question(), field.value.trim());
  });
  return { node: form, focus: () => field.focus(), clear: () => fill(reason) };
}

async function explain(node, question, path) {
  if (!path) return;
  fill(node, loading("Searching for the reason"));
  try {
    const { why } = await post("/v1/page/absent", { query: question, path });
    fill(node, el("p", {}, icon("search"), el("span", {}, withCode(why))));
  } catch (error) {
    fill(node, failed(error));
  }
}

/** Suggests notes whose name, title or first lines have the text. */
function offerer(list) {
  let asked = null;
  return async (text) => {
    asked?.abort();
    asked = new AbortController();
    try {
      const { cards } = await get(`/v1/page/cards?${query({ filter: text })}`, asked);
      const names = cards.slice(0, OFFERED).map(({ path, title }) => el("option", { value: path }, title));
      fill(list, names);
    } catch {
      // Without suggestions, a name can still be typed.
    }
  };
}
