// The names of regions on the map. More of them appear as one zooms in; none covers another.

/** From which zoom on the names of a level are shown, and how large. */
const LEVELS = [
  { from: 0, font: '650 15px "Noto Sans", system-ui, sans-serif', high: 20 },
  { from: 1.7, font: '560 12.5px "Noto Sans", system-ui, sans-serif', high: 17 },
  { from: 4, font: '480 11.5px "Noto Sans", system-ui, sans-serif', high: 15 },
];
const GAP_PX = 8;

/** Draws the labels that fit; `toScreen` converts positions. */
export function drawLabels(pen, labels, { zoom, toScreen, wide, high, paint, isQuiet }) {
  const boxes = [];
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  for (const label of labels) {
    const level = LEVELS[label.level];
    if (zoom < level.from) continue;
    const [x, y] = toScreen([label.x, label.y]);
    if (x < 0 || y < 0 || x > wide || y > high) continue;
    pen.font = level.font;
    const half = pen.measureText(label.text).width / 2 + GAP_PX;
    const box = [x - half, y - level.high / 2, x + half, y + level.high / 2];
    if (box[0] < 0 || box[2] > wide || boxes.some((other) => overlaps(box, other))) continue;
    boxes.push(box);
    pen.globalAlpha = isQuiet ? 0.55 : 1;
    pen.lineWidth = 4;
    pen.strokeStyle = paint.paper;
    pen.strokeText(label.text, x, y);
    pen.fillStyle = paint.names[label.region] ?? paint.ink;
    pen.fillText(label.text, x, y);
  }
  pen.globalAlpha = 1;
}

const overlaps = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
