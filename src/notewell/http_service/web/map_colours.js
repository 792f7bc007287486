// Colours of the map: by month, from blue (old) to red (new), or by source.

import { el, svg } from "./dom.js";
import { monthAndYear } from "./format.js";

/** The colour number of each point; the last colour is for points without a date. */
export function colourings(by, map) {
  if (by === "source") return map.points.map((point) => point[5]);
  const none = map.months.length;
  return map.points.map((point) => (map.months[point[4]] ? point[4] : none));
}

/** The colours of the current theme. */
export function paintOf(by, map) {
  const isDark = isDarkNow();
  const ink = isDark ? "#f2efe9" : "#1c1b19";
  const lit = isDark ? "#ffd166" : "#b3261e";
  if (by === "source") return { ink, lit, colours: sourceColours(isDark) };
  const months = map.months.map((_, at) => hue(at, map.months.length, isDark ? 0.74 : 0.6));
  return { ink, lit, colours: [...months, isDark ? "#77736b" : "#9a958b"] };
}

/** The legend. */
export function legend(by, map) {
  if (by === "source") {
    const colours = sourceColours(isDarkNow());
    return map.sources.map((name, at) => el("span", { class: "key" }, swatch(colours[at]), name));
  }
  if (!map.months.length) return [el("span", { class: "key" }, "no dated notes")];
  const { colours } = paintOf(by, map);
  const strip = svg("svg", {
    class: "strip",
    viewBox: `0 0 ${map.months.length} 1`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  strip.append(
    ...map.months.map((_, at) =>
      svg("rect", { x: at, y: 0, width: 1.05, height: 1, fill: colours[at] }),
    ),
  );
  const ends = [map.months[0], map.months.at(-1)].map((one) => el("span", {}, monthAndYear(one)));
  return [
    ends[0],
    strip,
    ends[1],
    el("span", { class: "key" }, swatch(colours.at(-1)), "no date"),
  ];
}

function swatch(colour) {
  return svg(
    "svg",
    { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" },
    svg("circle", { cx: 5, cy: 5, r: 5, fill: colour }),
  );
}

const hue = (at, of, bright) =>
  `oklch(${bright} 0.14 ${Math.round(265 - (of > 1 ? at / (of - 1) : 1) * 240)})`;

const sourceColours = (isDark) => (isDark ? ["#6fb8d6", "#e5a84b"] : ["#12607d", "#b0690a"]);

function isDarkNow() {
  const { theme } = document.documentElement.dataset;
  return (
    theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
  );
}
