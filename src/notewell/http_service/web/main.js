// Entry point of the page: loads the current user, draws the frame, and opens the view in the URL.
//
//   main ── places (parses the URL) ── view_*.js: open(page, route) → {node, update?, changed?, close?}
//     ├── live (server-sent events) ──────────────────────────────────────────┘
//     └── keys, palette (the keyboard)

import { addNote } from "./add.js";
import * as api from "./api.js";
import { el, fill, icon } from "./dom.js";
import { listenToKeys, showKeys } from "./keys.js";
import { listen } from "./live.js";
import { login } from "./login.js";
import { openPalette } from "./palette.js";
import { here, place, route } from "./places.js";
import { failed, loading } from "./states.js";
import * as access from "./view_access.js";
import * as health from "./view_health.js";
import * as map from "./view_map.js";
import * as notes from "./view_notes.js";
import * as search from "./view_search.js";
import * as sessions from "./view_sessions.js";
import * as timeline from "./view_timeline.js";

// Loaded at once and not on demand: a view must open and show the error when the service is down.
const VIEWS = {
  search: ["Search", search],
  notes: ["Notes", notes],
  timeline: ["Timeline", timeline],
  sessions: ["Sessions", sessions],
  map: ["Map", map],
  health: ["Health", health],
  access: ["Access", access],
};

const AGAIN_MS = 3000;

const main = document.getElementById("main");
const said = document.getElementById("said");
const page = {
  me: null,
  views: VIEWS,
  can: (scope) => canDo(scope),
  say,
  meetAgain,
  add: () => addNote(page),
  theme: (choice) => setTheme(choice),
};
let open = { view: null, it: null };
/** Where an item was opened from another view, so that Escape leads back: `{hash, row}`. */
let origin = null;

/** Announces a text to screen readers only. */
function say(text) {
  said.textContent = text;
}

function canDo(scope) {
  const { scopes = [], readOnly = false } = page.me ?? {};
  if (scope !== "read" && readOnly) return false;
  return scopes.includes("admin") || scopes.includes(scope);
}

function show({ row = null } = {}) {
  const where = { ...route(), row };
  const view = Object.hasOwn(VIEWS, where.view) ? where.view : "search";
  point(view);
  if (open.view === view && open.it.update) return open.it.update(where);
  open.it?.close?.();
  const [title, module] = VIEWS[view];
  document.title = `${title} · Notewell`;
  open = { view, it: module.open(page, where) };
  fill(main, open.it.node);
  main.scrollTop = 0;
  open.it.opened?.(where);
  if (!main.contains(document.activeElement)) main.focus({ preventScroll: true });
}

function point(view) {
  for (const link of document.querySelectorAll("#views a")) {
    link.setAttribute("href", place(link.dataset.view));
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Another address: also of another agent, if somebody typed it or went back in the history. */
async function moved({ oldURL = "" } = {}) {
  const now = route();
  if (now.agent !== here.agent) return choose(now.agent);
  const from = route(new URL(oldURL, location.href).hash);
  if (!now.of) origin = null;
  else if (from.view !== now.view)
    origin = { hash: new URL(oldURL, location.href).hash, row: location.hash };
  return show();
}

/** Escape: to where the item was opened, or from an item back to its list. */
function back() {
  const up = document.querySelector("#main [data-back]");
  if (origin && route().of) {
    const { hash, row } = origin;
    origin = null;
    history.replaceState(null, "", hash || place("search"));
    return show({ row });
  }
  if (up?.checkVisibility()) return up.click();
  if (route().of) location.hash = place(route().view);
  return undefined;
}

function drawFrame() {
  const links = Object.entries(VIEWS).map(([name, [title]]) =>
    el("li", {}, el("a", { href: place(name), "data-view": name }, icon(name), el("span", {}, title))),
  );
  fill(document.getElementById("views"), links);
  button("theme", "theme", turnTheme);
  button("help-open", "keys", showKeys);
  button("palette-open", "search", () => openPalette(page));
  nameTheme(window.notewellTheme.current());
  document.getElementById("skip").addEventListener("click", () => main.focus());
}

function button(id, drawing, onClick) {
  const node = document.getElementById(id);
  node.prepend(icon(drawing));
  node.addEventListener("click", onClick);
}

function turnTheme() {
  nameTheme(window.notewellTheme.next());
}

function setTheme(choice) {
  nameTheme(window.notewellTheme.set(choice));
}

function nameTheme(choice) {
  const names = { system: "System", light: "Light", dark: "Dark" };
  document.getElementById("theme-name").textContent = names[choice];
  const label = `Theme: ${names[choice]}. Change it`;
  document.getElementById("theme").setAttribute("aria-label", label);
  say(`Theme: ${choice}`);
}

function drawMe() {
  const { agent, agents = [], version } = page.me;
  document.getElementById("read-only").hidden = canDo("append");
  document.getElementById("version").textContent = `Notewell ${version}`;
  document.querySelector('#views a[data-view="access"]').parentElement.hidden = !canDo("admin");
  const select = document.getElementById("agent");
  fill(
    select,
    agents.map((name) => el("option", { value: name }, name)),
  );
  select.value = agent;
  document.getElementById("agent-label").hidden = agents.length < 2;
}

function stated(state) {
  const node = document.getElementById("live");
  const labels = {
    live: "Live: changes appear automatically",
    waiting: "Not connected; reconnecting",
  };
  node.dataset.state = state;
  node.setAttribute("aria-label", labels[state]);
  node.title = labels[state];
}

/** The current user. Retries while the service is unreachable; shows any other error. */
async function meet() {
  for (;;) {
    try {
      return await api.get("/v1/page/me");
    } catch (error) {
      if (error.status === 403 && here.agent) {
        // An address of an agent that is gone, or of somebody else: the first agent answers.
        here.agent = null;
        history.replaceState(null, "", place("search"));
        continue;
      }
      fill(main, error.status === 401 ? login() : failed(error, () => location.reload()));
      if (error.status !== 0) return null;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** Another agent: its name goes into the address, and everything is loaded again. */
async function choose(agent) {
  here.agent = agent;
  page.me = await meet();
  if (!page.me) return;
  drawMe();
  open.it?.close?.();
  open = { view: null, it: null };
  page.events.reopen();
  show();
}

/** The frame again, after something in it changed: agents were added or removed. */
async function meetAgain() {
  page.me = await meet();
  if (page.me) drawMe();
}

async function start() {
  here.agent = route().agent;
  drawFrame();
  fill(main, loading("Connecting to the service"));
  page.me = await meet();
  if (!page.me) return;
  drawMe();
  page.events = listen((news) => open.it?.changed?.(news), stated);
  page.chooseAgent = (name) => {
    here.agent = name;
    history.pushState(null, "", place(route().view));
    return choose(name);
  };
  document.getElementById("agent").addEventListener("change", (event) => page.chooseAgent(event.target.value));
  listenToKeys({
    go: (view) => {
      location.hash = place(view);
    },
    theme: turnTheme,
    palette: () => openPalette(page),
    back,
  });
  addEventListener("hashchange", moved);
  show();
}

start();
