// Server-sent events: reports changes of the memory.

import { eventsUrl } from "./api.js";

/** What a page may have missed while it was not connected. */
const EVERYTHING = ["notes", "index", "recall", "history", "sync ended"];
const QUIET_MS = 400; // Throttle: a sync of many notes sends many events.

/**
 * Calls `changed({topics})` after events: what kind of data changed. A view loads only what it shows
 * of that. Calls `stated` with "live" or "waiting". The connection is closed while
 * the tab is hidden: the service limits their number, and a browser allows six per host.
 */
export function listen(changed, stated) {
  let source = null;
  let timer = 0;
  let waiting = 0;
  let isLost = false;
  let topics = new Set();

  function open() {
    close();
    source = new EventSource(eventsUrl());
    source.addEventListener("open", () => {
      stated("live");
      if (isLost) soon({ changed: EVERYTHING }); // Events may have been missed meanwhile.
      isLost = false;
    });
    source.addEventListener("status", (event) => soon(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      stated("waiting");
      isLost = true;
      // The browser reconnects by itself, except after an error response.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, 15000);
    });
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  function soon({ changed: kinds }) {
    for (const topic of kinds.includes("back") ? EVERYTHING : kinds) topics.add(topic);
    if (waiting) return; // A call is already scheduled.
    waiting = setTimeout(() => {
      waiting = 0;
      const latest = topics;
      topics = new Set();
      changed({ topics: latest });
    }, QUIET_MS);
  }

  function look() {
    if (!document.hidden) return open();
    close();
    isLost = true;
  }

  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", close);
  look();
  return { reopen: open };
}
