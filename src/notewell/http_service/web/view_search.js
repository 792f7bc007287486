// Search as you type, with adjustable weights and a comparison of two settings.

import { absent } from "./absent.js";
import { get, post } from "./api.js";
import { el, fill, icon, settled } from "./dom.js";
import { counted, took } from "./format.js";
import { answer, noticed, shares } from "./hits.js";
import { place, route } from "./places.js";
import { asker, empty } from "./states.js";
import { fromAddress, summary, toAddress, tuning } from "./tuning.js";

const MEANING_MS = 120; // Words answer every key; meaning follows when the fingers rest.
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

/** The last answer: whoever comes back from a note finds it as it was. */
let last = { key: "", got: null };

export function open(page, where) {
  const view = new SearchView();
  view.update(where);
  return {
    node: view.node,
    update: (next) => view.update(next),
    changed: () => view.results.querySelector(".failed") && view.now(),
    close: () => view.close(),
    opened: ({ row }) => (row ? view.focusRow() : view.field.focus()),
  };
}

class SearchView {
  constructor() {
    this.query = "";
    this.a = {};
    this.b = null;
    this.provider = "";
    this.defaults = null;
    this.words = null; // The request for words that is under way.
    this.asked = null; // The text that was last searched by meaning.
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
    // Hits by words may be opened before the query is in the address.
    this.results.addEventListener("click", () => this.remember(), { capture: true });
    this.missing = absent(() => this.query);
    this.ask = asker(this.results, "Searching");
    this.soon = settled(
      () => (OWN_EMBEDDERS.has(this.provider) ? MEANING_MS : PAID_MS),
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
    this.field.addEventListener("input", () => this.typed());
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

  /** The second setting begins as the opposite of the first: words alone, or meaning alone. */
  turnCompare() {
    this.b = this.b ? null : { ...this.a, vectorWeight: this.a.vectorWeight === 0 ? 1 : 0 };
    this.isTuning = this.isTuning || this.b !== null;
    this.drawPanel();
    this.now();
  }

  async drawPanel() {
    this.tune.setAttribute("aria-pressed", String(this.isTuning));
    this.compare.setAttribute("aria-pressed", String(this.b !== null));
    this.panel.hidden = !this.isTuning;
    if (!this.isTuning) return;
    this.defaults ??= await get("/v1/page/weights").catch(() => null);
    if (!this.defaults) return;
    // Unless the settings say it, the service weighs each query by itself: here is what it took.
    const usual = { vectorWeight: this.weight, ...this.defaults };
    const draw = (name, title, values) => tuning(name, title, values, usual, this.soon);
    fill(
      this.panel,
      draw("a", this.b ? "Setting A" : "Settings of this search", this.a),
      this.b && draw("b", "Setting B", this.b),
    );
  }

  /** Restores the query and the settings from the URL. */
  update({ how, row = null }) {
    this.a = fromAddress("a", how);
    this.b = how.has("compare") ? fromAddress("b", how) : null;
    if (this.b && !Object.keys(this.b).length) this.b = { vectorWeight: 0 };
    const isTuned = this.b !== null || Object.keys(this.a).length > 0;
    this.isTuning = this.isTuning || (isTuned && matchMedia("(min-width: 34rem)").matches);
    this.field.value = how.get("q") ?? "";
    this.row = row;
    this.drawPanel();
    this.now();
  }

  body() {
    return { query: this.query, a: this.a, ...(this.b && { b: this.b }) };
  }

  /** Words at once, one request at a time; meaning when the fingers rest. */
  typed() {
    this.soon();
    this.wordsNow();
  }

  async wordsNow() {
    const query = this.field.value.trim();
    if (!query) return this.now();
    if (this.b || this.words) return undefined;
    this.words = new AbortController();
    try {
      const body = { query, a: this.a, mode: "keyword" };
      const got = await post("/v1/page/search", body, { signal: this.words.signal, once: true });
      // An answer by meaning to what stands in the field is better than this one.
      if (this.answered !== this.field.value.trim() && !this.words.signal.aborted) this.drawWords(got);
    } catch {
      // The search by meaning follows and reports what is wrong.
    }
    this.words = null;
    if (this.field.value.trim() !== query && this.node.isConnected) this.wordsNow();
    return undefined;
  }

  drawWords(got) {
    // An answer by meaning to an earlier text must not replace this; the one to the text in the field
    // will, also if these words answer an earlier one.
    if (this.asked !== this.field.value.trim()) this.ask.stop();
    if (!got.a.results.length) return;
    this.summary.textContent = `${counted(got.a.results.length, "hit")} by words in ${took(got.a.tookMs)} · meaning follows`;
    fill(this.results, answer(got.a, { label: "Hits" }));
  }

  now() {
    this.soon.cancel();
    this.remember();
    this.missing.clear();
    this.missing.node.hidden = !this.query;
    if (!this.query) {
      this.ask.stop();
      this.words?.abort();
      this.summary.textContent = "";
      this.answered = null;
      return fill(
        this.results,
        welcome((text) => this.tryOut(text)),
      );
    }
    const [body, { query }] = [this.body(), this];
    if (JSON.stringify(body) === last.key && this.answered === undefined) return this.draw(last.got);
    const isShown = this.results.querySelector(".hits, .beside") !== null;
    this.asked = query;
    return this.ask(
      (signal) => post("/v1/page/search", body, { signal }),
      (got) => {
        last = { key: JSON.stringify(body), got };
        this.answered = query;
        this.draw(got);
      },
      { quietly: isShown },
    );
  }

  /** Leads to what is nearest, although it is far. */
  nearest() {
    const how = { q: this.query, ...toAddress("a", { ...this.a, minScore: 0 }) };
    return el("p", { class: "centred" }, el("a", { href: place("search", "", how), "data-row": true }, "Show the nearest"));
  }

  tryOut(text) {
    this.field.value = text;
    this.field.focus();
    this.now();
  }

  draw(got) {
    this.provider = got.a.provider ?? "";
    this.summary.textContent = summed(got);
    this.weighed(got.a);
    if (!got.b) {
      const isFar = !got.a.results.length && got.a.nearness?.limit;
      fill(this.results, answer(got.a, { label: "Hits" }), isFar && this.nearest());
      return this.focusRow();
    }
    const isSame = got.a.notice === got.b.notice; // Said once, above both.
    const columns = [
      column("A", this.a, got.a, { after: got.b.results, isNoticed: !isSame }),
      column("B", this.b ?? {}, got.b, { before: got.a.results, isNoticed: !isSame }),
    ];
    fill(this.results, isSame && noticed(got.a), el("div", { class: "beside" }, columns));
    return this.focusRow();
  }

  /** Shows the weight that the service chose for this query. */
  weighed({ results }) {
    const weights = results.map((hit) => shares(hit).weight).filter((one) => one !== undefined);
    const isOwn = "vectorWeight" in this.a || !weights.length;
    const mean = isOwn ? this.weight : Math.round((weights.reduce((sum, one) => sum + one, 0) / weights.length) * 100) / 100;
    if (mean === this.weight) return;
    this.weight = mean;
    // A control in use must not be replaced.
    if (this.isTuning && !this.panel.contains(document.activeElement)) this.drawPanel();
  }

  /** Back from a note: the hit that led there gets the focus. */
  focusRow() {
    if (!this.row || !this.node.isConnected) return;
    const rows = [...this.results.querySelectorAll("a[data-row]")];
    const row = rows.find((one) => one.getAttribute("href") === this.row);
    row?.focus();
    if (rows.length) this.row = null;
  }

  /** Keeps the URL up to date, so that it can be shared; without a new history entry. */
  remember() {
    this.query = this.field.value.trim();
    // A note that was just opened is in the address before this view is closed.
    if (route().view !== "search") return;
    const second = this.b && { compare: "1", ...toAddress("b", this.b) };
    history.replaceState(
      null,
      "",
      place("search", "", { q: this.query, ...toAddress("a", this.a), ...second }),
    );
  }

  close() {
    this.soon.cancel();
    this.words?.abort();
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
