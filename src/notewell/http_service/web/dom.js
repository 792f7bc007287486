// Creates elements from plain values. Nothing here parses HTML: text of a note is inserted as text.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; strings become text nodes, null is left out. */
export function el(name, props = {}, ...children) {
  return dress(document.createElement(name), props, children);
}

/** The same, in SVG. */
export function svg(name, props = {}, ...children) {
  return dress(document.createElementNS(SVG, name), props, children);
}

/** An icon from icons.svg; hidden from screen readers. */
export function icon(name) {
  const use = svg("use", {});
  use.setAttribute("href", `/web/icons.svg#${name}`);
  return svg("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, use);
}

/** Replaces the children of a node. */
export function fill(node, ...children) {
  node.replaceChildren(...nodes(children));
  return node;
}

/** Runs `draw`. If it replaces the focused row, the row with the same link gets the focus. */
export function keepFocus(node, draw) {
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  const href = focused?.matches("a[data-row]") ? focused.getAttribute("href") : null;
  draw();
  if (href === null || node.contains(document.activeElement)) return;
  const rows = [...node.querySelectorAll("a[data-row]")];
  rows.find((row) => row.getAttribute("href") === href)?.focus({ preventScroll: true });
}

/** A bar of `share` (0 to 1). The width is set through CSSOM, which the page's policy allows. */
export function bar(share, kind = "") {
  const inner = el("span", {});
  inner.style.inlineSize = `${Math.round(Math.max(0, Math.min(1, share)) * 100)}%`;
  return el("span", { class: `bar ${kind}`, "aria-hidden": "true" }, inner);
}

/** Debounces `what`: calls it `ms` after the last call. */
export function settled(ms, what) {
  let timer = 0;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => what(...args), typeof ms === "function" ? ms() : ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

function dress(node, props, children) {
  for (const [key, value] of Object.entries(props)) put(node, key, value);
  node.append(...nodes(children));
  return node;
}

function put(node, key, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") node.addEventListener(key.slice(2).toLowerCase(), value);
  else if (key === "href") node.setAttribute("href", inside(value));
  else if (key === "value") node.value = value;
  else node.setAttribute(key, value === true ? "" : String(value));
}

/** Only links inside the page: user data can never create an external link or run a script. */
function inside(href) {
  if (!href.startsWith("#")) throw new TypeError(`a link must begin with #: ${href}`);
  return href;
}

function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}
