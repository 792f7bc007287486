// What the service is asked, and what its refusals become.

/** What went wrong, for a person: what, and the next step. */
export class Problem extends Error {
  constructor(status, title, detail, action) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.action = action;
  }
}

const LONGEST_PAUSE_S = 5;

let agent = null;

/** From now on every call is about this agent. */
export function choose(name) {
  agent = name;
}

export const get = (path, options) => call("GET", path, options);
export const post = (path, body, options) => call("POST", path, { ...options, body });

/** `/` parts the folders of a note's name; everything else in it is quoted. */
export const quoted = (path) => path.split("/").map(encodeURIComponent).join("/");

/** The address of the events; an EventSource cannot send headers. */
export const eventsUrl = () =>
  `/v1/page/events${agent ? `?agent=${encodeURIComponent(agent)}` : ""}`;

async function call(method, path, { body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (agent) headers["Notewell-Agent"] = agent;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const request = { method, headers, signal, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) request.body = JSON.stringify(body);
  let response = await reach(path, request);
  if (response.status === 429) response = await afterPause(response, path, request);
  const told = await json(response);
  if (response.ok) return response.status === 202 ? { state: "running", ...told } : told;
  throw problem(response, told);
}

async function reach(path, request) {
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    const action = "Start it with `notewell serve`; this page goes on by itself.";
    throw new Problem(
      0,
      "The service does not answer",
      "Nothing listens at this address.",
      action,
    );
  }
}

/** Whoever types quickly asks often: one short wait, then once more. */
async function afterPause(response, path, request) {
  const wait_s = Number(response.headers.get("Retry-After") ?? 1);
  if (!(wait_s <= LONGEST_PAUSE_S)) return response;
  await new Promise((resolve) => setTimeout(resolve, wait_s * 1000));
  request.signal?.throwIfAborted();
  return reach(path, request);
}

async function json(response) {
  try {
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return {};
  }
}

function problem(response, told) {
  if (response.status === 401) return unknown();
  const wait = response.headers.get("Retry-After");
  const action = told.action ?? (wait ? `Try again in ${wait} s.` : null);
  const title = told.title ?? `The service answered ${response.status}`;
  return new Problem(response.status, title, told.detail ?? "", action);
}

function unknown() {
  const action =
    "Run `notewell token link` on the machine of the service, and open what it prints.";
  return new Problem(401, "This browser is not known", "A link, used once, lets it in.", action);
}
