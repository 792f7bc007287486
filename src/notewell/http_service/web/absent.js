// "Why is this note not here?": the question every search leaves open.

import { get, post } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { withCode } from "./marked.js";
import { failed, loading } from "./states.js";

const OFFERED = 30; // As many names as one can look through while typing.

/** A form under the hits; `query()` says what was searched for. */
export function absent(query) {
  const names = el("datalist", { id: "absent-names" });
  const field = el("input", {
    type: "text",
    id: "absent-path",
    list: "absent-names",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "memory/2026-11-15.md",
  });
  const told = el("div", { class: "absent-told", role: "status" });
  const form = el(
    "form",
    { class: "absent" },
    el("label", { for: "absent-path" }, "Why is this note not here?"),
    el("div", { class: "absent-row" }, field, el("button", { type: "submit" }, "Explain"), names),
    told,
  );
  const offer = offerer(names);
  field.addEventListener("focus", () => offer(field.value));
  field.addEventListener("input", () => offer(field.value));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    explain(told, query(), field.value.trim());
  });
  return { node: form, focus: () => field.focus(), clear: () => fill(told) };
}

async function explain(told, query, path) {
  if (!path) return;
  fill(told, loading("Looking for the reason"));
  try {
    const { why } = await post("/v1/page/absent", { query, path });
    fill(told, el("p", {}, icon("search"), el("span", {}, withCode(why))));
  } catch (error) {
    fill(told, failed(error));
  }
}

/** Names of notes that hold what is typed; all names are fetched once, when first wanted. */
function offerer(list) {
  let names = null;
  return async (text) => {
    names ??= get("/v1/page/notes")
      .then(({ notes }) => notes.map((note) => note.path))
      .catch(() => []);
    const wanted = text.toLowerCase();
    const fitting = (await names).filter((name) => name.toLowerCase().includes(wanted));
    fill(
      list,
      fitting.slice(0, OFFERED).map((name) => el("option", { value: name })),
    );
  };
}
