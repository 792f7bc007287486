// Draws the map on a canvas. Pan and zoom do not compute positions again.
//
// Three numbers, `view`, convert a position on the map to one on the screen:
//   screen = (sheet - view.centre) * view.scale + half of the canvas

import { drawLabels } from "./map_labels.js";

const NEAREST_ZOOM = 0.7;
const FARTHEST_ZOOM = 60;
const CLOSEST_FRAME = 3; // So that highlighted points are seen with their surroundings.
const REACH_PX = 12; // Maximum distance of the pointer from a point.
const MANY = 3000; // Above this number, points are drawn smaller.
const MARGIN = 0.92;
const TURNS = 6;
const GLOW_PX = 22; // Radius of the haze behind each point, from which regions form.

/** Draws on `canvas`; `paint` returns the current colours. */
export class Sheet {
  constructor(canvas, paint) {
    this.canvas = canvas;
    this.paint = paint;
    this.points = [];
    this.groups = [];
    this.labels = [];
    this.isShown = () => true; // The time slider hides points.
    this.lit = new Set();
    this.marked = -1;
    this.view = { x: 0, y: 0, zoom: 1 };
    this.frame = 0;
    this.measure();
    this.watcher = new ResizeObserver(() => {
      this.measure();
      this.soon();
    });
    this.watcher.observe(canvas);
  }

  /** Read once per size: reading it for every point makes drawing five times slower. */
  measure() {
    this.wide = this.canvas.clientWidth;
    this.high = this.canvas.clientHeight;
  }

  /** `colours[i]` is the index of point i's colour in what `paint().colours` returns. */
  load(points, colours, labels = []) {
    this.points = points;
    // Large regions first: their names win where two would overlap.
    this.labels = [...labels].sort((a, b) => a.level - b.level || b.points - a.points);
    this.box = boxOf(points);
    this.colour(colours);
    this.whole();
  }

  colour(colours) {
    this.groups = [];
    colours.forEach((colour, index) => (this.groups[colour] ??= []).push(index));
    this.soon();
  }

  /** Shows the points for which `test(point)` is true. */
  limit(test) {
    this.isShown = test;
    this.soon();
  }

  light(indexes) {
    this.lit = new Set(indexes);
    this.soon();
  }

  mark(index) {
    if (index === this.marked) return;
    this.marked = index;
    this.soon();
  }

  whole() {
    this.view = {
      x: (this.box.left + this.box.right) / 2,
      y: (this.box.top + this.box.bottom) / 2,
      zoom: 1,
    };
    this.soon();
  }

  /** Zooms around a position on the screen, which stays fixed. */
  zoom(factor, at = this.middle()) {
    const before = this.toSheet(at);
    this.view.zoom = Math.max(NEAREST_ZOOM, Math.min(FARTHEST_ZOOM, this.view.zoom * factor));
    const after = this.toSheet(at);
    this.view.x += before[0] - after[0];
    this.view.y += before[1] - after[1];
    this.soon();
  }

  pan(dx, dy) {
    const scale = this.scale();
    this.view.x -= dx / scale;
    this.view.y -= dy / scale;
    this.soon();
  }

  /** Pans and zooms so that all of these points are visible. */
  frameOn(indexes) {
    const box = boxOf(indexes.map((index) => this.points[index]));
    this.view.x = (box.left + box.right) / 2;
    this.view.y = (box.top + box.bottom) / 2;
    this.view.zoom = 1;
    const size = Math.max(box.right - box.left, box.bottom - box.top);
    const room = Math.min(this.wide, this.high) * 0.4;
    this.view.zoom = Math.max(
      1,
      Math.min(CLOSEST_FRAME, room / Math.max(1e-9, size * this.scale())),
    );
    this.soon();
  }

  /** The point under the pointer, or -1. */
  at(place) {
    let best = -1;
    let least = REACH_PX ** 2;
    for (let index = 0; index < this.points.length; index += 1) {
      if (!this.isShown(this.points[index])) continue;
      const [x, y] = this.toScreen(this.points[index]);
      const far = (x - place[0]) ** 2 + (y - place[1]) ** 2;
      if (far < least) [best, least] = [index, far];
    }
    return best;
  }

  /** The visible points, from the centre outwards. */
  inView() {
    const { wide, high } = this;
    const [cx, cy] = this.middle();
    return this.points
      .map((point, index) => [index, ...this.toScreen(point)])
      .filter(([index, x, y]) => this.isShown(this.points[index]) && x >= 0 && y >= 0 && x <= wide && y <= high)
      .map(([index, x, y]) => [index, (x - cx) ** 2 + (y - cy) ** 2])
      .sort((a, b) => a[1] - b[1])
      .map(([index]) => index);
  }

  toScreen([x, y]) {
    const scale = this.scale();
    const [cx, cy] = this.middle();
    return [(x - this.view.x) * scale + cx, (y - this.view.y) * scale + cy];
  }

  toSheet([x, y]) {
    const scale = this.scale();
    const [cx, cy] = this.middle();
    return [(x - cx) / scale + this.view.x, (y - cy) / scale + this.view.y];
  }

  middle() {
    return [this.wide / 2, this.high / 2];
  }

  scale() {
    const wide = Math.max(1e-9, this.box.right - this.box.left);
    const high = Math.max(1e-9, this.box.bottom - this.box.top);
    const fit = Math.min(this.wide / wide, this.high / high);
    return fit * MARGIN * this.view.zoom;
  }

  /** Draws once per frame, however many changes there were. */
  soon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  close() {
    this.watcher.disconnect();
    cancelAnimationFrame(this.frame);
  }

  draw() {
    if (!this.points.length || !this.wide) return;
    const pen = this.cleared();
    const paint = this.paint();
    const size = Math.min(6, (this.points.length > MANY ? 1.5 : 2.4) * this.view.zoom ** 0.45) * Math.max(0.6, Math.min(1, this.wide / 800));
    const groups = this.groups.map((group) => group.filter((index) => this.isShown(this.points[index])));
    groups.forEach((group, colour) => this.haze(pen, group, paint.colours[colour], paint.isDark));
    pen.globalAlpha = this.lit.size ? 0.25 : 0.8;
    // Interleaved: if drawn colour by colour, the last one would cover all others.
    for (let turn = 0; turn < TURNS; turn += 1) {
      groups.forEach((group, colour) =>
        this.dots(
          pen,
          group.filter((_, at) => at % TURNS === turn),
          size,
          paint.colours[colour],
        ),
      );
    }
    pen.globalAlpha = 1;
    if (this.lit.size) this.dots(pen, [...this.lit], size + 2, paint.lit);
    const { wide, high } = this;
    const toScreen = (place) => this.toScreen(place);
    const how = { zoom: this.view.zoom, toScreen, wide, high, paint, isQuiet: this.lit.size > 0 };
    drawLabels(pen, this.labels, how);
    if (this.marked >= 0) this.ring(pen, this.points[this.marked], size + 5, paint.ink);
  }

  /** A soft cloud behind the points of one colour: one picture, drawn many times. */
  haze(pen, group, colour, isDark) {
    if (this.view.zoom > 12) return;
    const cloud = cloudOf(colour);
    const radius = GLOW_PX * Math.min(2, this.view.zoom ** 0.5) * Math.min(1, this.wide / 800);
    // Fewer and stronger clouds on a large map: thousands of very faint ones round to grey.
    const each = Math.ceil(this.points.length / 3000);
    pen.globalAlpha = Math.min(0.3, (isDark ? 150 : 130) / this.points.length + 0.008) * each;
    for (let at = 0; at < group.length; at += each) {
      const index = group[at];
      const [x, y] = this.toScreen(this.points[index]);
      if (x < -radius || y < -radius || x > this.wide + radius || y > this.high + radius) continue;
      pen.drawImage(cloud, x - radius, y - radius, radius * 2, radius * 2);
    }
  }

  /** An empty canvas with the resolution of the screen. */
  cleared() {
    const { canvas } = this;
    const dense = devicePixelRatio || 1;
    const [wide, high] = [Math.round(this.wide * dense), Math.round(this.high * dense)];
    const pen = canvas.getContext("2d");
    if (canvas.width !== wide || canvas.height !== high)
      Object.assign(canvas, { width: wide, height: high });
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.clearRect(0, 0, this.wide, this.high);
    return pen;
  }

  dots(pen, group, size, colour) {
    const { wide, high } = this;
    pen.fillStyle = colour;
    pen.beginPath();
    for (const index of group) {
      const [x, y] = this.toScreen(this.points[index]);
      if (x < -size || y < -size || x > wide + size || y > high + size) continue;
      pen.moveTo(x + size, y);
      pen.arc(x, y, size, 0, Math.PI * 2);
    }
    pen.fill();
  }

  ring(pen, point, size, colour) {
    const [x, y] = this.toScreen(point);
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(x, y, size, 0, Math.PI * 2);
    pen.stroke();
  }
}

const clouds = new Map();

function cloudOf(colour) {
  if (clouds.has(colour)) return clouds.get(colour);
  const canvas = new OffscreenCanvas(64, 64);
  const pen = canvas.getContext("2d");
  const fade = pen.createRadialGradient(32, 32, 0, 32, 32, 32);
  fade.addColorStop(0, "#000");
  fade.addColorStop(1, "#0000");
  pen.fillStyle = fade;
  pen.fillRect(0, 0, 64, 64);
  // The fade is the shape, the colour fills it: a fade to `transparent` would pass through grey.
  pen.globalCompositeOperation = "source-in";
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 64, 64);
  clouds.set(colour, canvas);
  return canvas;
}

function boxOf(points) {
  const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  for (const [x, y] of points) {
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
  }
  return box;
}
