// The HTTP client of the page. Errors of the service become `Problem`s.

import { here } from "./places.js";

/** An error with a text for people and the next step. */
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

export const get = (path, options) => call("GET", path, options);
export const post = (path, body, options) => call("POST", path, { ...options, body });
export const remove = (path) => call("DELETE", path);

/** Percent-encodes each part of a path but keeps the slashes. */
export const quoted = (path) => path.split("/").map(encodeURIComponent).join("/");

/** The agent is a query parameter here: an EventSource cannot send headers. */
export const eventsUrl = () =>
  `/v1/page/events${here.agent ? `?agent=${encodeURIComponent(here.agent)}` : ""}`;

async function call(method, path, { body, signal, key, once } = {}) {
  const headers = { Accept: "application/json" };
  if (here.agent) headers["Notewell-Agent"] = here.agent;
  if (key) headers["Idempotency-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const request = { method, headers, signal, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) request.body = JSON.stringify(body);
  let response = await reach(path, request);
  if (response.status === 429 && !once) response = await afterPause(response, path, request);
  const payload = await json(response);
  if (response.ok) return response.status === 202 ? { state: "running", ...payload } : payload;
  throw problem(response, payload);
}

async function reach(path, request) {
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    const action = "Start it with `notewell serve`; this page reconnects automatically.";
    throw new Problem(
      0,
      "The service does not answer",
      "No service listens at this address.",
      action,
    );
  }
}

/** Fast typing can reach the rate limit: wait once for a short time, then retry. */
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

function problem(response, payload) {
  if (response.status === 401) return unknown();
  const wait = response.headers.get("Retry-After");
  const action = payload.action ?? (wait ? `Try again in ${wait} s.` : null);
  const title = payload.title ?? `The service answered ${response.status}`;
  return new Problem(response.status, title, payload.detail ?? "", action);
}

function unknown() {
  const action = "Reload the page: it says how to log in.";
  return new Problem(401, "This browser is not known", "Its login ended or was revoked.", action);
}
