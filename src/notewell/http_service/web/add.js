// Adding a note: an entry in the note of today, or below a heading of MEMORY.md.

import { post } from "./api.js";
import { el, fill } from "./dom.js";
import { toNote } from "./places.js";
import { failed } from "./states.js";

const LONGEST = 60000;

export function addNote(page) {
  if (!page.can("append")) return page.say("This browser may only read");
  const dialog = document.getElementById("sure");
  const text = el("textarea", { id: "add-text", rows: 8, maxlength: LONGEST, required: true, autofocus: true, placeholder: "What should be remembered? Markdown is welcome." });
  const where = el("select", { id: "add-where" }, el("option", { value: "day" }, "The note of today"), el("option", { value: "section" }, "MEMORY.md, below a heading"));
  const section = el("input", { type: "text", id: "add-section", maxlength: 200, placeholder: "Decisions" });
  const heading = el("div", { class: "add-field", hidden: true }, el("label", { for: "add-section" }, "Heading"), section);
  where.addEventListener("change", () => {
    heading.hidden = where.value === "day";
    section.required = !heading.hidden;
    if (!heading.hidden) section.focus();
  });
  const status = el("div", { role: "status" });
  const save = el("button", { type: "submit", class: "strong" }, "Add");
  // One key for all attempts: a retry after a lost answer does not write the entry twice.
  const key = crypto.randomUUID();
  const form = el(
    "form",
    { class: "add-form" },
    el("h2", { id: "sure-title" }, "Add a note"),
    el("label", { class: "unseen", for: "add-text" }, "Text"),
    text,
    el("div", { class: "add-places" }, el("div", { class: "add-field" }, el("label", { for: "add-where" }, "Where"), where), heading),
    status,
    el(
      "div",
      { class: "dialog-buttons" },
      el("span", { class: "hint" }, el("kbd", {}, "Ctrl"), " ", el("kbd", {}, "Enter"), " adds it"),
      el("button", { type: "button", onClick: () => dialog.close() }, "Cancel"),
      save,
    ),
  );
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!text.value.trim()) return;
    save.disabled = true;
    try {
      const body = { text: text.value.trim(), ...(where.value === "section" && { section: section.value.trim() }) };
      const { path, startLine, endLine, added } = await post("/v1/append", body, { key });
      dialog.close();
      page.say(added ? `Added to ${path}` : `${path} already has it`);
      location.hash = toNote(path, `${startLine}-${endLine}`);
    } catch (error) {
      save.disabled = false;
      fill(status, failed(error));
    }
  });
  fill(dialog, form);
  dialog.showModal();
  return undefined;
}
