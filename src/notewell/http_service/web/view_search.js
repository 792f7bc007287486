// Search as you type, with adjustable weights and a comparison of two settings.

import { absent } from "./absent.js";
import { post } from "./api.js";
import { el, fill, icon, settled } from "./dom.js";
import { counted, took } from "./format.js";
import { answer } from "./hits.js";
import { place } from "./places.js";
import { asker, empty } from "./states.js";
import { fromAddress, summary, toAddress, tuning } from "./tuning.js";

const QUICK_MS = 160;
const PAID_MS = 900; // A remote embedder costs money per query: wait until typing has stopped.
const OWN_EMBEDDERS = new Set(["embedded", "local", "ollama", "none", ""]);
const LONGEST = 2000;
const EXAMPLES = ["what did we decide last week?", "open questions", "which version runs where?"];
const MODES = {
  hybrid: "meaning and words",
  partial: "words, and meaning where vectors exist",
  keyword: "words only",
  vector: "meaning only",
};

export function open(page, where) {
  const view = new SearchView();
  view.update(where);
  return {
    node: view.node,
    update: (next) => view.update(next),
    changed: () => view.results.querySelector(".failed") && view.now(),
    close: () => view.close(),
    opened: () => view.field.focus(),
  };
}

class SearchView {
  constructor() {
    this.query = "";
    this.a = {};
    this.b = null;
    this.provider = "";
    this.isTuning = false;
    this.field = el("input", {
      type: "search",
      id: "query",
      "data-field": true,
      autocomplete: "off",
      spellcheck: "false",
      maxlength: LONGEST,
      placeholder: "Search the memory",
      "aria-describedby": "search-status",
      enterkeyhint: "search",
    });
    this.summary = el("p", { class: "summary", id: "search-status", role: "status" });
    this.panel = el("div", { class: "tunings", id: "tunings" });
    this.results = el("div", { class: "results" });
    this.missing = absent(() => this.query);
    this.ask = asker(this.results, "Searching");
    this.soon = settled(
      () => (OWN_EMBEDDERS.has(this.provider) ? QUICK_MS : PAID_MS),
      () => this.now(),
    );
    this.tune = toggle("tune", "Weights", "w", () => this.turnTuning());
    this.compare = toggle("compare", "Compare", "b", () => this.turnCompare());
    this.node = el(
      "div",
      { class: "view view-search" },
      el("h1", { class: "unseen" }, "Search"),
      this.form(),
      this.panel,
      this.summary,
      this.results,
      this.missing.node,
    );
  }

  form() {
    const why = el("button", {
      type: "button",
      class: "unseen-key",
      "data-key": "y",
      tabindex: "-1",
      "aria-hidden": "true",
      onClick: this.missing.focus,
    });
    const form = el(
      "form",
      { class: "search-bar", role: "search" },
      el("label", { class: "unseen", for: "query" }, "Search the memory"),
      el(
        "span",
        { class: "search-field" },
        icon("search"),
        this.field,
        el("kbd", { "aria-hidden": "true" }, "/"),
      ),
      this.tune,
      this.compare,
      why,
    );
    this.field.addEventListener("input", this.soon);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.now();
    });
    return form;
  }

  turnTuning() {
    this.isTuning = !this.isTuning;
    this.drawPanel();
  }

  turnCompare() {
    this.b = this.b ? null : { ...this.a };
    this.isTuning = this.isTuning || this.b !== null;
    this.drawPanel();
    this.now();
  }

  drawPanel() {
    this.tune.setAttribute("aria-pressed", String(this.isTuning));
    this.compare.setAttribute("aria-pressed", String(this.b !== null));
    this.panel.hidden = !this.isTuning;
    const first = tuning("a", this.b ? "Setting A" : "Settings of this search", this.a, this.soon);
    fill(this.panel, first, this.b && tuning("b", "Setting B", this.b, this.soon));
  }

  /** Restores the query and the settings from the URL. */
  update({ how }) {
    this.a = fromAddress("a", how);
    this.b = how.has("compare") ? fromAddress("b", how) : null;
    const isTuned = this.b !== null || Object.keys(this.a).length > 0;
    this.isTuning = this.isTuning || (isTuned && matchMedia("(min-width: 34rem)").matches);
    this.field.value = how.get("q") ?? "";
    this.drawPanel();
    this.now();
  }

  now() {
    this.soon.cancel();
    this.query = this.field.value.trim();
    this.remember();
    this.missing.clear();
    this.missing.node.hidden = !this.query;
    if (!this.query) {
      this.ask.stop();
      this.summary.textContent = "";
      return fill(
        this.results,
        welcome((text) => this.tryOut(text)),
      );
    }
    const body = { query: this.query, a: this.a, ...(this.b && { b: this.b }) };
    const isShown = this.results.querySelector(".hits, .beside") !== null;
    this.ask(
      (signal) => post("/v1/page/search", body, { signal }),
      (got) => this.draw(got),
      { quietly: isShown },
    );
  }

  tryOut(text) {
    this.field.value = text;
    this.field.focus();
    this.now();
  }

  draw(got) {
    this.provider = got.a.provider ?? "";
    this.summary.textContent = summed(got);
    if (!got.b) return fill(this.results, answer(got.a, { label: "Hits" }));
    const columns = [
      column("A", this.a, got.a, { after: got.b.results }),
      column("B", this.b ?? {}, got.b, { before: got.a.results }),
    ];
    fill(this.results, el("div", { class: "beside" }, columns));
  }

  /** Keeps the URL up to date, so that it can be shared; without a new history entry. */
  remember() {
    const second = this.b && { compare: "1", ...toAddress("b", this.b) };
    history.replaceState(
      null,
      "",
      place("search", "", { q: this.query, ...toAddress("a", this.a), ...second }),
    );
  }

  close() {
    this.soon.cancel();
    this.ask.stop();
  }
}

function toggle(drawing, label, key, onClick) {
  const props = {
    type: "button",
    class: "toggle",
    "data-key": key,
    "aria-pressed": "false",
    "aria-label": label,
    title: `${label} (${key})`,
    onClick,
  };
  return el("button", props, icon(drawing), el("span", {}, label));
}

function summed({ a, b }) {
  const one = (got) => `${counted(got.results.length, "hit")} in ${took(got.tookMs)}`;
  const both = b ? `A: ${one(a)}, B: ${one(b)}` : one(a);
  return `${both} · by ${MODES[a.mode] ?? a.mode}`;
}

function column(name, values, got, other) {
  return el(
    "section",
    { "aria-label": `Setting ${name}` },
    el("h2", { class: "column-title" }, el("b", {}, name), " ", summary(values)),
    answer(got, { label: `Hits of setting ${name}`, ...other }),
  );
}

function welcome(tryOut) {
  const tries = EXAMPLES.map((text) =>
    el(
      "li",
      {},
      el(
        "button",
        { type: "button", class: "link", "data-row": true, onClick: () => tryOut(text) },
        text,
      ),
    ),
  );
  return empty(
    "Search your agent's memory",
    "Hits show the lines that an agent would get, and the parts of each score: meaning, words and age.",
    el("ul", { class: "tries" }, tries),
  );
}
