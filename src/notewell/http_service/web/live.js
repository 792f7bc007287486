// What happens at the service, as it happens.

import { eventsUrl } from "./api.js";

const QUIET_MS = 400; // A sync of many notes tells a lot at once; the views hear of it once.

/**
 * Calls `changed` after each event, and `stated` with "live" or "waiting". The connection is given
 * back while nobody looks: the service holds a bounded number of them, and a browser six a host.
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
      if (isLost) soon(); // What happened meanwhile was not heard.
      isLost = false;
    });
    source.addEventListener("status", soon);
    source.addEventListener("error", () => {
      stated("waiting");
      isLost = true;
      // The browser tries again by itself, unless the answer was a refusal.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, 15000);
    });
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  function soon() {
    if (waiting) return; // However much happens, the views hear of it every now and then.
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
