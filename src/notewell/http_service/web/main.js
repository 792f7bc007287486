// Entry point of the page: loads the current user, draws the frame, and opens the view in the URL.
//
//   main ── places (parses the URL) ── view_*.js: open(page, route) → {node, update?, changed?, close?}
//     ├── live (server-sent events) ──────────────────────────────────────────┘
//     └── keys (the keyboard)

import * as api from "./api.js";
import { el, fill, icon } from "./dom.js";
import { listenToKeys, showKeys } from "./keys.js";
import { listen } from "./live.js";
import { route } from "./places.js";
import { failed, loading } from "./states.js";
import * as health from "./view_health.js";
import * as map from "./view_map.js";
import * as notes from "./view_notes.js";
import * as recalls from "./view_recalls.js";
import * as search from "./view_search.js";
import * as sessions from "./view_sessions.js";

// Loaded at once and not on demand: a view must open and show the error when the service is down.
const VIEWS = {
  search: ["Search", search],
  notes: ["Notes", notes],
  sessions: ["Sessions", sessions],
  recalls: ["Recalls", recalls],
  map: ["Map", map],
  health: ["Health", health],
};

const AGAIN_MS = 3000;

const main = document.getElementById("main");
const said = document.getElementById("said");
const page = { me: null, can: (scope) => canDo(scope), say };
let open = { view: null, it: null };

/** Announces a text to screen readers only. */
function say(text) {
  said.textContent = text;
}

function canDo(scope) {
  const { scopes = [], readOnly = false } = page.me ?? {};
  if (scope !== "read" && readOnly) return false;
  return scopes.includes("admin") || scopes.includes(scope);
}

function show() {
  const where = route();
  const view = Object.hasOwn(VIEWS, where.view) ? where.view : "search";
  point(view);
  if (open.view === view && open.it.update) return open.it.update(where);
  open.it?.close?.();
  const [title, module] = VIEWS[view];
  document.title = `${title} · Notewell`;
  open = { view, it: module.open(page, where) };
  fill(main, open.it.node);
  open.it.opened?.();
  if (!main.contains(document.activeElement)) main.focus({ preventScroll: true });
}

function point(view) {
  for (const link of document.querySelectorAll("#views a")) {
    const isHere = link.getAttribute("href") === `#${view}`;
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Escape: from an item back to its list. */
function back() {
  const up = document.querySelector("#main [data-back]");
  if (up?.checkVisibility()) up.click();
  else if (route().of) location.hash = `#${route().view}`;
}

function drawFrame() {
  const links = Object.entries(VIEWS).map(([name, [title]]) =>
    el("li", {}, el("a", { href: `#${name}` }, icon(name), el("span", {}, title))),
  );
  fill(document.getElementById("views"), links);
  const theme = document.getElementById("theme");
  theme.prepend(icon("theme"));
  theme.addEventListener("click", turnTheme);
  nameTheme(window.notewellTheme.current());
  const help = document.getElementById("help-open");
  help.prepend(icon("keys"));
  help.addEventListener("click", showKeys);
  document.getElementById("skip").addEventListener("click", () => main.focus());
}

function turnTheme() {
  const choice = window.notewellTheme.next();
  nameTheme(choice);
  say(`Theme: ${choice}`);
}

function nameTheme(choice) {
  const names = { system: "System", light: "Light", dark: "Dark" };
  document.getElementById("theme-name").textContent = names[choice];
  const label = `Theme: ${names[choice]}. Change it`;
  document.getElementById("theme").setAttribute("aria-label", label);
}

function drawMe() {
  const { agent, agents = [], version } = page.me;
  document.getElementById("read-only").hidden = canDo("append");
  document.getElementById("version").textContent = `Notewell ${version}`;
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
      fill(
        main,
        failed(error, () => location.reload()),
      );
      if (error.status !== 0) return null;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

async function start() {
  drawFrame();
  fill(main, loading("Connecting to the service"));
  page.me = await meet();
  if (!page.me) return;
  drawMe();
  const events = listen(() => open.it?.changed?.(), stated);
  document.getElementById("agent").addEventListener("change", async (event) => {
    api.choose(event.target.value);
    page.me = await api.get("/v1/page/me");
    open.it?.close?.();
    open = { view: null, it: null };
    events.reopen();
    show();
  });
  listenToKeys({
    go: (view) => {
      location.hash = `#${view}`;
    },
    theme: turnTheme,
    back,
  });
  addEventListener("hashchange", show);
  show();
}

start();
