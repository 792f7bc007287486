// Server-sent events: reports changes of the memory.

import { eventsUrl } from "./api.js";

const QUIET_MS = 400; // Throttle: a sync of many notes sends many events.

/**
 * Calls `changed({topics, paths})` after events: what kind of data changed, and the notes that were
 * written (null: any). A view loads only what it shows of that. Calls `stated` with "live" or "waiting". The connection is closed while
 * the tab is hidden: the service limits their number, and a browser allows six per host.
 */
export function listen(changed, stated) {
  let source = null;
  let timer = 0;
  let waiting = 0;
  let isLost = false;
  let news = nothing();

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

  function soon({ changed: topics, paths = null }) {
    for (const topic of topics.includes("back") ? EVERYTHING : topics) news.topics.add(topic);
    // The index and files of other processes change without a list of notes.
    if (!paths && topics.some((topic) => topic !== "recall" && !topic.startsWith("sync"))) news.paths = null;
    news.paths?.push(...(paths ?? []));
    if (waiting) return; // A call is already scheduled.
    waiting = setTimeout(() => {
      waiting = 0;
      const latest = news;
      news = nothing();
      changed(latest);
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

const EVERYTHING = ["notes", "index", "recall", "history", "sync ended"];
const nothing = () => ({ topics: new Set(), paths: [] });
