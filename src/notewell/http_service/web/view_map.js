// Map: every chunk is a point; similar chunks are close together. The list shows the same points.

import { get, post } from "./api.js";
import { el, fill, icon, settled } from "./dom.js";
import { month, score, whole } from "./format.js";
import { Sheet } from "./map_canvas.js";
import { colourings, legend, paintOf } from "./map_colours.js";
import { handle } from "./map_pointer.js";
import { described, hitOf, isSame, nearText, viewText } from "./map_words.js";
import { toHit } from "./places.js";
import { empty, failed, loading } from "./states.js";

const LISTED = 60;
const AGAIN_MS = 1500;
const ASK_MS = 300;
const LIST_MS = 250;
const TIP_PX = 240;

export function open() {
  const view = new MapView();
  view.load();
  return { node: view.node, changed: ({ topics }) => topics.has("index") && view.load(), close: () => view.close() };
}

class MapView {
  constructor() {
    this.map = null;
    this.near = null;
    this.sheet = null;
    this.asked = new AbortController();
    this.closed = new AbortController();
    this.canvas = el("canvas", {
      class: "sheet",
      tabindex: "0",
      role: "img",
      "aria-label": "Map of the memory; the list contains the same points",
    });
    this.tip = el("p", { class: "tip", hidden: true });
    this.stage = el("div", { class: "stage" }, loading("Loading the map"));
    this.list = el("div", { class: "pane-body" });
    this.status = el("p", { class: "hint", role: "status" });
    this.key = el("div", { class: "map-legend" });
    this.field = el("input", {
      type: "search",
      id: "map-query",
      "data-field": true,
      placeholder: "Show what is near a query",
      autocomplete: "off",
    });
    this.by = el(
      "select",
      { id: "map-colour" },
      el("option", { value: "month" }, "by month"),
      el("option", { value: "source" }, "by source"),
    );
    this.node = el(
      "div",
      { class: "view split view-map" },
      this.side(),
      el("div", { class: "detail" }, this.stage),
    );
    this.listSoon = settled(LIST_MS, () => this.near || this.drawList());
    this.listen();
  }

  side() {
    const head = el(
      "div",
      { class: "pane-head" },
      el("h1", {}, "Map"),
      el("label", { class: "unseen", for: "map-query" }, "Show what is near a query"),
      this.field,
      el("label", { class: "inline", for: "map-colour" }, "Colours ", this.by),
      this.key,
    );
    return el("section", { class: "pane", "aria-label": "Points" }, head, this.status, this.list);
  }

  listen() {
    const { signal } = this.closed;
    this.field.addEventListener(
      "input",
      settled(ASK_MS, () => this.ask()),
    );
    this.by.addEventListener("change", () => this.recolour());
    const repaint = () => this.recolour();
    document.addEventListener("notewell:theme", repaint, { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint, { signal });
  }

  /** Loads the map; polls while the service computes it. */
  async load() {
    clearTimeout(this.timer);
    try {
      const map = await get("/v1/page/map", { signal: this.closed.signal });
      if (map.points) return this.arrive(map);
      if (!this.map)
        fill(
          this.stage,
          loading("Computing the map"),
          el(
            "p",
            { class: "hint centred" },
            "The first map takes up to half a minute to compute.",
          ),
        );
      this.timer = setTimeout(() => this.load(), AGAIN_MS);
    } catch (error) {
      if (!this.closed.signal.aborted && !this.map)
        fill(
          this.stage,
          failed(error, () => this.load()),
        );
    }
  }

  arrive(map) {
    if (!map.points.length) return fill(this.stage, none());
    if (this.map && isSame(this.map, map)) return;
    const isFirst = !this.map;
    this.map = map;
    if (isFirst) {
      fill(this.stage, this.canvas, this.tip, this.buttons());
      this.sheet = new Sheet(this.canvas, () => paintOf(this.by.value, this.map));
      const moved = () => this.listSoon();
      handle(this.canvas, this.sheet, {
        hovered: this.hover.bind(this),
        chosen: this.choose.bind(this),
        moved,
      });
    }
    this.sheet.load(map.points, colourings(this.by.value, map));
    fill(this.key, legend(this.by.value, map));
    if (this.field.value) this.ask();
    else requestAnimationFrame(() => this.drawList());
  }

  recolour() {
    if (!this.map) return;
    this.sheet.colour(colourings(this.by.value, this.map));
    fill(this.key, legend(this.by.value, this.map));
  }

  buttons() {
    const button = (label, drawing, key, what) => {
      const onClick = () => {
        what();
        this.listSoon();
      };
      return el(
        "button",
        {
          type: "button",
          "aria-label": label,
          title: `${label} (${key})`,
          "data-key": key,
          onClick,
        },
        icon(drawing),
      );
    };
    return el(
      "div",
      { class: "stage-buttons", role: "group", "aria-label": "Zoom" },
      button("Zoom in", "plus", "+", () => this.sheet.zoom(1.5)),
      button("Zoom out", "minus", "-", () => this.sheet.zoom(1 / 1.5)),
      button("Show the whole map", "whole", "0", () => this.sheet.whole()),
    );
  }

  hover(index, place) {
    this.sheet.mark(index);
    this.tip.hidden = index < 0;
    if (index < 0) return;
    fill(this.tip, described(this.map, index));
    this.tip.style.insetInlineStart = `${Math.max(0, Math.min(place[0] + 12, this.canvas.clientWidth - TIP_PX))}px`;
    this.tip.style.insetBlockStart = `${place[1] + 14}px`;
  }

  choose(index, place) {
    if (index < 0) this.hover(-1, place);
    else location.hash = toHit(hitOf(this.map, index));
  }

  /** Highlights the points that are nearest to the query. */
  async ask() {
    this.asked.abort();
    const query = this.field.value.trim();
    if (!this.sheet || !query) return this.lightUp(null);
    const mine = new AbortController();
    this.asked = mine;
    try {
      this.lightUp(await post("/v1/page/near", { query }, { signal: mine.signal }));
    } catch (error) {
      if (!mine.signal.aborted)
        fill(
          this.list,
          failed(error, () => this.ask()),
        );
    }
  }

  lightUp(near) {
    this.near = near;
    this.sheet?.light(near?.points ?? []);
    if (near?.points.length) this.sheet.frameOn(near.points.slice(0, 20));
    this.drawList();
  }

  drawList() {
    if (!this.map) return;
    const shown = this.near ? this.near.points : this.sheet.inView();
    const rows = shown
      .slice(0, LISTED)
      .map((index, place) => this.row(index, this.near?.scores?.[place]));
    this.status.textContent = this.near ? nearText(this.near) : viewText(this.map, shown.length);
    fill(this.list, el("ol", { class: "rows" }, rows));
  }

  row(index, near) {
    const hit = hitOf(this.map, index);
    const when = this.map.months[this.map.points[index][4]];
    const link = el("a", { class: "row-link", href: toHit(hit), "data-row": true }, hit.path);
    for (const kind of ["focus", "pointerenter"])
      link.addEventListener(kind, () => this.sheet.mark(index));
    for (const kind of ["blur", "pointerleave"])
      link.addEventListener(kind, () => this.sheet.mark(-1));
    const facts = [
      `line ${whole(hit.startLine)}`,
      when && month(when),
      near !== undefined && score(near),
    ];
    return el(
      "li",
      {},
      link,
      el(
        "p",
        { class: "where" },
        facts.filter(Boolean).map((fact) => el("span", {}, fact)),
      ),
    );
  }

  close() {
    clearTimeout(this.timer);
    this.listSoon.cancel();
    this.asked.abort();
    this.closed.abort();
    this.sheet?.close();
  }
}

function none() {
  return empty(
    "No points yet",
    "Points need vectors: write notes, run `notewell index`, and check on Health that the embedder works.",
  );
}
