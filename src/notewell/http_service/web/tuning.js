// Controls for the settings of one search. Unchanged controls use the values of the settings file.

import { el, fill, icon } from "./dom.js";
import { counted, percent, score } from "./format.js";

const HALF_LIVES = [0, 1, 3, 7, 14, 30, 60, 90, 180, 365, 730, 3650];

/** Each control, and how its value is shown. */
const CONTROLS = [
  {
    key: "vectorWeight",
    label: "Meaning or words",
    min: 0,
    max: 1,
    step: 0.05,
    read: (v) => ({ 0: "words alone", 1: "meaning alone" })[v] ?? `${percent(v)} meaning`,
  },
  {
    key: "halfLifeDays",
    label: "Half-life of dated notes",
    values: HALF_LIVES,
    read: (v) => (v ? counted(v, "day") : "age is ignored"),
  },
  {
    key: "mmrLambda",
    label: "Relevance or diversity",
    min: 0,
    max: 1,
    step: 0.05,
    read: (v) => (v === 1 ? "relevance alone" : `λ ${score(v)}`),
  },
  { key: "minScore", label: "Minimum score", min: 0, max: 1, step: 0.05, read: score },
  {
    key: "maxResults",
    label: "Maximum number of hits",
    min: 1,
    max: 30,
    step: 1,
    read: (v) => counted(v, "hit"),
  },
  {
    key: "fusion",
    label: "Fusion",
    choices: { weighted: "weighted sum", rrf: "by rank (RRF)", seed: "as OpenClaw documents it" },
  },
];

/** Controls that change `values` in place; `changed` is called after each change. */
export function tuning(name, title, values, defaults, changed) {
  const rows = CONTROLS.map((control) => row(name, control, values, defaults[control.key], changed));
  return el("fieldset", { class: "tuning" }, el("legend", {}, title), rows);
}

/** Reads parameters such as `a.vectorWeight=0.5` from the URL. */
export function fromAddress(name, how) {
  const values = {};
  for (const { key, choices } of CONTROLS) {
    const text = how.get(`${name}.${key}`);
    if (text === null) continue;
    if (choices ? Object.hasOwn(choices, text) : text !== "" && Number.isFinite(Number(text))) {
      values[key] = choices ? text : Number(text);
    }
  }
  return values;
}

/** The reverse of `fromAddress`. */
export function toAddress(name, values) {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [`${name}.${key}`, value]),
  );
}

/** The differences from the settings file, as text. */
export function summary(values) {
  const parts = CONTROLS.filter(({ key }) => key in values).map(
    ({ key, label, read, choices }) =>
      `${label.toLowerCase()}: ${choices ? choices[values[key]] : read(values[key])}`,
  );
  return parts.length ? parts.join(" · ") : "default settings";
}

function row(name, control, values, usual, changed) {
  const id = `${name}-${control.key}`;
  const output = el("output", { for: id });
  const reset = el(
    "button",
    { type: "button", class: "quiet small", "aria-label": `${control.label}: reset to default` },
    icon("close"),
  );
  const input = control.choices ? choice(id, control, usual) : slider(id, control);
  function draw() {
    const isSet = control.key in values;
    reset.classList.toggle("is-gone", !isSet);
    const value = isSet ? values[control.key] : usual;
    output.textContent = value === undefined ? "by the query" : (control.read?.(value) ?? "");
    input.classList.toggle("is-default", !isSet);
    input.value = control.choices ? (values[control.key] ?? "") : position(control, value ?? 0.5);
  }
  input.addEventListener("input", () => {
    const value = meaning(control, input.value);
    if (value === "") delete values[control.key];
    else values[control.key] = value;
    draw();
    changed();
  });
  reset.addEventListener("click", () => {
    delete values[control.key];
    draw();
    changed();
  });
  draw();
  return el(
    "div",
    { class: "tuning-row" },
    el("label", { for: id }, control.label),
    input,
    output,
    reset,
  );
}

function slider(id, { values, min, max, step }) {
  const range = values ? { min: 0, max: values.length - 1, step: 1 } : { min, max, step };
  return el("input", { type: "range", id, ...range });
}

function choice(id, { choices }, usual) {
  const options = [["", `${choices[usual] ?? usual} (setting)`], ...Object.entries(choices)];
  return fill(
    el("select", { id }),
    options.map(([value, text]) => el("option", { value }, text)),
  );
}

/** Converts a value to the position of its slider, and back. */
function position({ values }, value) {
  if (!values) return value;
  // The settings may have a number between two steps.
  const above = values.findIndex((one) => one >= value);
  return above < 0 ? values.length - 1 : above;
}


function meaning({ values, choices }, text) {
  if (choices) return text;
  return values ? values[Number(text)] : Number(text);
}
