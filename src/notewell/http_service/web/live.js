// Server-sent events: reports changes of the memory.

import { eventsUrl } from "./api.js";

const QUIET_MS = 400; // Throttle: a sync of many notes sends many events.

/**
 * Calls `changed` after events, and `stated` with "live" or "waiting". The connection is closed while
 * the tab is hidden: the service limits their number, and a browser allows six per host.
 */
export function listen(changed, stated) {
  let source = null;
  let timer = 0;
  let waiting = 0;
  let isLost = false;

  function open() {
    close();
    source = new EventSource(eventsUrl());
    source.addEventListener("open", () => {
      stated("live");
      if (isLost) soon(); // Events may have been missed meanwhile.
      isLost = false;
    });
    source.addEventListener("status", soon);
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

  function soon() {
    if (waiting) return; // A call is already scheduled.
    waiting = setTimeout(() => {
      waiting = 0;
      changed();
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
