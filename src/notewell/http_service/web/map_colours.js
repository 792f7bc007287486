// Colours of the map: by region, by month, or by source. Calm, and readable on both themes.

import { el, svg } from "./dom.js";
import { monthAndYear } from "./format.js";

/** The colour number of each point; by month, the last colour is for points without a date. */
export function colourings(by, map) {
  if (by === "source") return map.points.map((point) => point[5]);
  if (by === "region") return map.points.map((point) => point[6]);
  const none = map.months.length;
  return map.points.map((point) => (map.months[point[4]] ? point[4] : none));
}

/** The colours of the current theme. `names[i]` is the colour of the name of region i. */
export function paintOf(by, map) {
  const isDark = isDarkNow();
  const paint = {
    ink: isDark ? "#f2efe9" : "#1c1b19",
    paper: isDark ? "#15171a" : "#faf9f6",
    lit: isDark ? "#ffd166" : "#b3261e",
    isDark,
    names: regions(map).map((at) => hue(at, isDark ? 0.88 : 0.38, isDark ? 0.05 : 0.085)),
  };
  if (by === "source") return { ...paint, colours: sourceColours(isDark) };
  if (by === "region") return { ...paint, colours: regions(map).map((at) => hue(at, isDark ? 0.72 : 0.62, 0.1)) };
  const months = map.months.map((_, at) => ramp(at, map.months.length, isDark));
  return { ...paint, colours: [...months, isDark ? "#5b5a57" : "#b5b0a6"] };
}

/** The legend; regions have their names on the map. */
export function legend(by, map) {
  if (by === "region") return [];
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
  return [ends[0], strip, ends[1]];
}

function swatch(colour) {
  return svg(
    "svg",
    { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" },
    svg("circle", { cx: 5, cy: 5, r: 5, fill: colour }),
  );
}

const regions = (map) => {
  const most = map.points.reduce((max, point) => Math.max(max, point[6]), 0);
  return Array.from({ length: most + 1 }, (_, at) => at);
};

/** The golden angle: neighbouring numbers have distant hues. */
const hue = (at, bright, chroma) => `oklch(${bright} ${chroma} ${Math.round((230 + at * 137.5) % 360)})`;

/** From a pale blue (old) to the accent (new). */
function ramp(at, of, isDark) {
  const share = of > 1 ? at / (of - 1) : 1;
  const bright = isDark ? 0.42 + share * 0.42 : 0.84 - share * 0.42;
  return `oklch(${bright.toFixed(3)} ${(0.03 + share * 0.09).toFixed(3)} ${Math.round(255 - share * 40)})`;
}

const sourceColours = (isDark) => (isDark ? ["#6fb8d6", "#e5a84b"] : ["#12607d", "#b0690a"]);

function isDarkNow() {
  const { theme } = document.documentElement.dataset;
  return (
    theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
  );
}
