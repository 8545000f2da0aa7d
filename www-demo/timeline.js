// Draws lots of points on a time line: a bar from today to the day on which they expire, the earliest on top. The dates come from the
// service.
import { distance, endOf, showDate, showMonth, showPoints } from "./dates.js";
import { at, html, svg } from "./elements.js";

const ROW = 46;
const AXIS = 26;
const DAY_MS = 86_400_000;

let activeLots = [];

/** Draws the lots with points, and describes the rest of the balance. */
export function draw(lots, balance) {
  activeLots = lots.filter(({ status, points }) => status === "ACTIVE" && points.total > 0)
    .map(({ expiration_date: date, points }) => ({ date, points: points.total })).sort((one, other) => endOf(one.date) - endOf(other.date));
  const expiring = activeLots.reduce((sum, { points }) => sum + points, 0);
  at("lots").replaceChildren(...activeLots.map(({ date, points }) => html("li", {},
    html("strong", {}, showPoints(points)), ` until the end of ${showDate(date)}, in ${distance(date)}`)));
  at("never").textContent = balance > expiring ? `${showPoints(balance - expiring)} never expire.`
    : activeLots.length === 0 ? "No points yet: pay an order." : "The points that expire first are spent first.";
  picture();
}

/** Draws again when the width changes. */
export function start() {
  new ResizeObserver(picture).observe(at("timeline"));
}

function picture() {
  const host = at("timeline");
  const width = Math.max(240, host.clientWidth);
  host.replaceChildren(...(activeLots.length === 0 ? [] : [chart(width)]));
}

function chart(width) {
  const now = Date.now();
  const last = endOf(activeLots.at(-1).date);
  const span = Math.max(last - now, DAY_MS);
  const x = (ms) => Math.max(0, Math.min(1, (ms - now) / span)) * (width - 2) + 1;
  const height = activeLots.length * ROW + AXIS;
  const description = activeLots.map(({ date, points }) => `${showPoints(points)} until ${showDate(date)}`).join("; ");
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Time line: ${description}` },
    ...grid(now, span, x, height, width),
    ...activeLots.flatMap(({ date, points }, row) => {
      const top = row * ROW;
      return [
        svg("text", { x: 1, y: top + 15, class: "on-line" }, `${showPoints(points)} · ${showDate(date)}`),
        svg("rect", { x: 1, y: top + 22, width: Math.max(6, x(endOf(date)) - 1), height: 14, rx: 7, class: row === 0 ? "lot first" : "lot" }),
        svg("circle", { cx: Math.max(8, x(endOf(date)) - 7), cy: top + 29, r: 3.5, class: "end" }),
      ];
    }));
}

/** Returns the lines for today, and for the beginnings of months that fit. */
function grid(now, span, x, height, width) {
  const months = [];
  const begin = new Date(now);
  for (let step = 1; ; step += 1) {
    const ms = Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + step, 1);
    if (ms > now + span) break;
    months.push(ms);
  }
  const every = Math.max(1, Math.ceil((months.length * 64) / width));
  const ticks = months.filter((_, index) => (index + 1) % every === 0).filter((ms) => x(ms) > 68 && x(ms) < width - 24);
  return [
    svg("line", { x1: 1, x2: width - 1, y1: height - AXIS, y2: height - AXIS, class: "axis" }),
    svg("text", { x: 1, y: height - 7, class: "tick" }, "today"),
    ...ticks.flatMap((ms) => [
      svg("line", { x1: x(ms), x2: x(ms), y1: 0, y2: height - AXIS, class: "grid" }),
      svg("text", { x: x(ms), y: height - 7, class: "tick", "text-anchor": "middle" }, showMonth(ms)),
    ]),
  ];
}
