// A confirmation dialog, shown before a file is changed.

import { el, fill } from "./dom.js";

/** True if the user confirms; Escape and "Cancel" mean no. */
export function sure(title, text, yes) {
  const dialog = document.getElementById("sure");
  return new Promise((resolve) => {
    const answer = (value) => () => dialog.close(value);
    fill(
      dialog,
      el("h2", { id: "sure-title" }, title),
      el("p", {}, text),
      el(
        "div",
        { class: "dialog-buttons" },
        el("button", { type: "button", onClick: answer("no"), autofocus: true }, "Cancel"),
        el("button", { type: "button", class: "strong", onClick: answer("yes") }, yes),
      ),
    );
    dialog.returnValue = "no";
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
  });
}
