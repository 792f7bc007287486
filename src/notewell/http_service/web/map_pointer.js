// Mouse, touch and arrow keys on the map.

const STEP_PX = 60;
const CLICK_PX = 4; // A shorter movement is a click on a point, not a pan.

/** Pans and zooms `sheet`; calls `hovered(index, place)`, `chosen(index)` and `moved()`. */
export function handle(canvas, sheet, { hovered, chosen, moved }) {
  const down = new Map();
  let travelled = 0;

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (!down.size) travelled = 0;
    down.set(event.pointerId, where(event));
  });

  canvas.addEventListener("pointermove", (event) => {
    const now = where(event);
    const before = down.get(event.pointerId);
    if (!before) return hovered(sheet.at(now), now);
    if (down.size === 1) sheet.pan(now[0] - before[0], now[1] - before[1]);
    else pinch(event.pointerId, before, now);
    travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
    down.set(event.pointerId, now);
    moved();
  });

  function pinch(id, before, now) {
    const other = [...down].find(([key]) => key !== id)[1];
    const factor = distance(now, other) / Math.max(1, distance(before, other));
    sheet.zoom(factor, other);
  }

  function up(event) {
    const place = down.get(event.pointerId);
    down.delete(event.pointerId);
    if (event.type === "pointerup" && place && !down.size && travelled < CLICK_PX)
      chosen(sheet.at(place), place);
  }
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => hovered(-1, [0, 0]));

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      sheet.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), where(event));
      moved();
    },
    { passive: false },
  );

  canvas.addEventListener("keydown", (event) => {
    const steps = {
      ArrowLeft: [STEP_PX, 0],
      ArrowRight: [-STEP_PX, 0],
      ArrowUp: [0, STEP_PX],
      ArrowDown: [0, -STEP_PX],
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    sheet.pan(...steps[event.key]);
    moved();
  });
}

const where = (event) => [event.offsetX, event.offsetY];
const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
