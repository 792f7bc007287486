// A calendar heat map: one square per day, darker for more notes.

import { el, fill, icon } from "./dom.js";
import { counted, longDay, shortMonth, weekday, whole } from "./format.js";

const STEPS = 4;
const LEAST_DARK = 3;
const DAY_MS = 86400000;

/** One year with buttons for the others; `pick(day)` is called with the selected day. */
export function heatmap(days, chosen, pick) {
  const byDay = new Map(days.map((one) => [one.day, one]));
  const years = [...new Set(days.map((one) => Number(one.day.slice(0, 4))))].sort((a, b) => a - b);
  let year = Number((chosen ?? days.at(-1).day).slice(0, 4));
  const node = el("section", { class: "heat", "aria-label": "Days" });
  const most = typicalMost(days);
  function draw() {
    const inYear = days.filter((one) => one.day.startsWith(`${year}-`));
    const notes = inYear.reduce((sum, one) => sum + one.notes, 0);
    const turn = (by) => () => {
      year += by;
      draw();
    };
    fill(
      node,
      el(
        "div",
        { class: "heat-head" },
        el("h2", {}, String(year)),
        el("p", {}, `${counted(notes, "note")} on ${counted(inYear.length, "day")}`),
        arrow("Previous year", "back", year > years[0], turn(-1)),
        arrow("Next year", "chevron", year < years.at(-1), turn(1)),
      ),
      el("div", { class: "heat-scroll", tabindex: "-1" }, grid(year, byDay, most, chosen, pick)),
      legend(),
    );
    requestAnimationFrame(() => showCurrent(node));
  }
  draw();
  return node;
}

/** Scrolls to the current day; at the left a month begins, so that its name can be read. */
function showCurrent(node) {
  const scroll = node.querySelector(".heat-scroll");
  node.querySelector(".day[tabindex='0']").scrollIntoView({ block: "nearest", inline: "center" });
  const left = (one) => one.offsetLeft - scroll.offsetLeft;
  const months = [...node.querySelectorAll(".heat-month")].map(left).filter((at) => at <= scroll.scrollLeft);
  if (scroll.scrollLeft) scroll.scrollLeft = months.at(-1) ?? 0;
}

/** The 90th percentile: one day with an import must not make all others pale, nor one note a day all dark. */
function typicalMost(days) {
  const sizes = days.map(weight).sort((a, b) => a - b);
  return Math.max(LEAST_DARK, sizes[Math.floor(sizes.length * 0.9)] ?? 1);
}

const weight = (one) => one.notes + (one.entries ?? 0);

function arrow(label, drawing, isThere, onClick) {
  return el(
    "button",
    { type: "button", class: "quiet small", "aria-label": label, disabled: !isThere, onClick },
    icon(drawing),
  );
}

function grid(year, byDay, most, chosen, pick) {
  const first = Date.UTC(year, 0, 1);
  const offset = (new Date(first).getUTCDay() + 6) % 7; // Weeks begin on Monday.
  const length = (Date.UTC(year + 1, 0, 1) - first) / DAY_MS;
  const cells = Array.from({ length }, (_, place) => {
    const iso = new Date(first + place * DAY_MS).toISOString().slice(0, 10);
    const cell = square(iso, byDay.get(iso), most, iso === chosen, pick);
    cell.style.gridColumn = String(Math.floor((place + offset) / 7) + 2);
    cell.style.gridRow = String(((place + offset) % 7) + 2);
    return cell;
  });
  const node = el("div", {
    class: "heat-grid",
    role: "group",
    "aria-label": `Days of ${year}; use the arrow keys`,
  });
  node.append(...labels(first, offset), ...cells);
  walk(cells, chosen);
  return node;
}

function square(iso, summary, most, isChosen, pick) {
  const step = summary ? Math.min(STEPS, Math.ceil((weight(summary) / most) * STEPS)) : 0;
  const said = summary
    ? `${longDay(iso)}: ${counted(summary.notes, "note")}, ${counted(summary.entries ?? 0, "entry", "entries")}, ${whole(summary.chars)} characters`
    : `${longDay(iso)}: nothing`;
  return el("button", {
    type: "button",
    class: `day day-${step}`,
    title: said,
    "aria-label": said,
    "data-day": iso,
    "aria-pressed": String(isChosen),
    tabindex: "-1",
    onClick: () => pick(iso),
  });
}

function labels(first, offset) {
  const months = Array.from({ length: 12 }, (_, index) => {
    const start = (Date.UTC(new Date(first).getUTCFullYear(), index, 1) - first) / DAY_MS;
    const node = el("span", { class: "heat-month", "aria-hidden": "true" }, shortMonth(index));
    node.style.gridColumn = `${Math.floor((start + offset) / 7) + 2} / span 4`;
    return node;
  });
  const week = [0, 2, 4].map((index) => {
    const node = el("span", { class: "heat-weekday", "aria-hidden": "true" }, weekday(index));
    node.style.gridRow = String(index + 2);
    return node;
  });
  return [...months, ...week];
}

/** A roving tabindex: one Tab stop; arrow keys move between days. */
function walk(cells, chosen) {
  const filled = cells.findLastIndex((cell) => !cell.classList.contains("day-0"));
  let at = Math.max(
    0,
    cells.findIndex((cell) => cell.dataset.day === chosen),
  );
  if (!chosen && filled >= 0) at = filled;
  cells[at].tabIndex = 0;
  const steps = {
    ArrowUp: -1,
    ArrowDown: 1,
    ArrowLeft: -7,
    ArrowRight: 7,
    Home: -cells.length,
    End: cells.length,
  };
  for (const cell of cells) {
    cell.addEventListener("keydown", (event) => {
      if (!(event.key in steps)) return;
      event.preventDefault();
      const next = Math.max(0, Math.min(cells.length - 1, cells.indexOf(cell) + steps[event.key]));
      cell.tabIndex = -1;
      cells[next].tabIndex = 0;
      cells[next].focus();
    });
  }
}

function legend() {
  const squares = [0, 1, 2, 3, 4].map((step) => el("span", { class: `day day-${step}` }));
  return el("p", { class: "heat-legend", "aria-hidden": "true" }, "less", squares, "more");
}
