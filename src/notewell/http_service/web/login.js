// What a browser sees that is not logged in: why, and a field for the code.

import { el } from "./dom.js";
import { withCode } from "./marked.js";

export function login() {
  // Nothing in the frame works before: it would only lead astray.
  document.body.classList.add("is-stranger");
  const isOver = location.hash === "#link-over";
  const field = el("input", {
    type: "text",
    id: "login-code",
    autocomplete: "one-time-code",
    spellcheck: "false",
    required: true,
    placeholder: `${location.origin}/open?code=…`,
  });
  const form = el(
    "form",
    { class: "login-form" },
    el("label", { for: "login-code" }, "Link or code"),
    el("div", { class: "absent-row" }, field, el("button", { type: "submit", class: "strong" }, "Log in")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const code = codeOf(field.value);
    if (code) location.assign(`/open?code=${encodeURIComponent(code)}`);
  });
  return el(
    "section",
    { class: "login" },
    el("h1", {}, "This browser is not known"),
    isOver && el("p", { class: "notice", role: "alert" }, "That link was already used, or it is older than ten minutes."),
    el(
      "p",
      {},
      "The notes of an agent are private, so each browser logs in once. It stays logged in for 30 days, or until you revoke it.",
    ),
    el(
      "ol",
      {},
      el("li", {}, withCode("Run `notewell token link` on the machine where `notewell serve` runs.")),
      el("li", {}, "Open the link that it prints, or paste it here. It works once, for ten minutes."),
    ),
    form,
  );
}

/** The code of a pasted link, or the text itself. */
function codeOf(text) {
  const given = text.trim();
  return /[?&]code=([^&#\s]+)/.exec(given)?.[1] ?? (/^[\w-]{8,100}$/.test(given) ? given : "");
}
