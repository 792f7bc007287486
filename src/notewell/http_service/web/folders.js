// The folders of the notes: a tree that opens below the filter.

import { el, fill, icon } from "./dom.js";
import { whole } from "./format.js";
import { asker } from "./states.js";

/** `load()` returns the folders with their counts; `to(folder)` is the address of one. */
export function drawFolders(load, to) {
  const node = el("nav", { class: "folders", id: "folders", "aria-label": "Folders", hidden: true });
  const ask = asker(node, "Listing the folders");
  const button = el(
    "button",
    { type: "button", "aria-expanded": "false", "aria-controls": "folders", "data-key": "f", title: "Folders (f)" },
    icon("folder"),
    "Folders",
  );
  function turn(open) {
    node.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open) ask(load, ({ folders }) => fill(node, tree(folders, to)));
  }
  button.addEventListener("click", () => turn(node.hidden));
  return { node, button, close: () => turn(false) };
}

function tree(folders, to) {
  return el(
    "ul",
    {},
    folders.map(({ folder, notes }) => {
      const parts = folder.split("/").filter(Boolean);
      const link = el(
        "a",
        { href: to(folder), "data-row": true },
        el("span", {}, parts.at(-1) ?? "All notes"),
        el("span", { class: "count" }, whole(notes)),
      );
      link.style.paddingInlineStart = `${0.5 + Math.max(0, parts.length - 1) * 0.9}rem`;
      return el("li", {}, link);
    }),
  );
}
