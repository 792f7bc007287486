// The time slider of the map: shows what was known up to a month; it can play.

import { el, fill, icon } from "./dom.js";
import { monthAndYear } from "./format.js";

const STEP_MS = 220;

/** `changed(month)` gets the index of the last month to show; the last one shows everything. */
export function timeSlider(months, changed) {
  const last = months.length - 1;
  const slider = el("input", { type: "range", id: "map-time", min: 0, max: last, step: 1, value: last, "aria-label": "Show what was known until" });
  const label = el("output", { for: "map-time" });
  const play = el("button", { type: "button", class: "quiet", "data-key": "p" });
  let timer = 0;
  function draw() {
    const at = Number(slider.value);
    const text = at === last ? "all time" : `until ${monthAndYear(months[at])}`;
    label.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    const name = timer ? "Pause" : "Play from the beginning";
    fill(play, icon(timer ? "pause" : "play"));
    play.setAttribute("aria-label", name);
    play.title = `${name} (p)`;
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    draw();
  }
  function turn() {
    if (timer) return stop();
    if (Number(slider.value) === last) slider.value = 0;
    timer = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      changed(Number(slider.value));
      if (Number(slider.value) === last) stop();
      draw();
    }, STEP_MS);
    changed(Number(slider.value));
    return draw();
  }
  slider.addEventListener("input", () => {
    stop();
    changed(Number(slider.value));
  });
  play.addEventListener("click", turn);
  draw();
  return { node: el("div", { class: "map-time" }, play, slider, label), stop };
}
