// Draws the tiers of a program with the member's progress, the next tier and the risk of a downgrade. The service decides the tier.
import { showCount, showDay, showPoints } from "./dates.js";
import { at, html, svg } from "./elements.js";

const HEIGHT = 84;
const SIDE = 34;

let known = { tiers: [], progress: undefined };

/** Draws the tiers from the lowest to the highest, and `progress` where it exists. */
export function draw(tiers, progress) {
  known = { tiers: [...tiers].sort((one, other) => floorOf(one) - floorOf(other)), progress };
  const current = progress?.current;
  at("tier").textContent = current?.tier?.name ?? "No tier yet";
  at("tier-notes").replaceChildren(...notes(progress).map((note) => html("li", { "data-state": note.state }, note.text)));
  picture();
}

/** Draws again when the width changes. */
export function start() {
  new ResizeObserver(picture).observe(at("tier-picture"));
}

const floorOf = (tier) => tier.qualification_rules?.min_value ?? 0;

function notes(progress) {
  if (!progress?.current?.tier?.name) return [{ state: "wait", text: "The service reports no tier of this member." }, ...ahead(progress)];
  const { start_at: since, expires_at: until } = progress.current;
  const period = [since && `since ${showDay(since)}`, until && `until ${showDay(until)}`].filter(Boolean).join(", ");
  return [...(period ? [{ state: "done", text: `Held ${period}.` }] : []), ...ahead(progress)];
}

function ahead(progress) {
  const by = (date) => (date ? ` until ${showDay(date)}` : "");
  return [
    ...(progress?.opportunities ?? []).map(({ tier, points, valid_until: until }) => (
      { state: "done", text: `${showPoints(points)} more for ${tier?.name ?? "the next tier"}${by(until)}.` })),
    ...(progress?.deferred ?? []).map(({ tier, start_at: from }) => (
      { state: "done", text: `${tier?.name ?? "Another tier"} begins${from ? ` on ${showDay(from)}` : ""}.` })),
    ...(progress?.risks ?? []).map(({ type, tier, date }) => {
      const what = type === "TIER_LEFT" ? "the tier is lost" : `down to ${tier?.name ?? "a lower tier"}`;
      return { state: "wait", text: `At risk${date ? ` on ${showDay(date)}` : ""}: ${what}.` };
    }),
  ];
}

function picture() {
  const host = at("tier-picture");
  host.replaceChildren(...(known.tiers.length === 0 ? [] : [chart(Math.max(240, host.clientWidth))]));
}

/** Draws the tiers at equal distances, because their bounds are far apart; between two of them the scale is in points. */
function chart(width) {
  const { tiers, progress } = known;
  const points = progress?.current?.points?.current;
  const currentIndex = tiers.findIndex(({ id }) => id === progress?.current?.tier?.id);
  const x = (index) => SIDE + (index * (width - 2 * SIDE)) / Math.max(1, tiers.length - 1);
  const reached = points === undefined ? 0 : place(points, tiers) * ((width - 2 * SIDE) / Math.max(1, tiers.length - 1));
  const status = currentIndex < 0 ? "no tier yet" : `${tiers[currentIndex].name} is held`;
  const label = `Tiers: ${tiers.map((tier) => `${tier.name} from ${showPoints(floorOf(tier))}`).join(", ")}; ${status}${
    points === undefined ? "" : `, with ${showPoints(points)}`}`;
  return svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label },
    svg("line", { x1: SIDE, x2: width - SIDE, y1: 34, y2: 34, class: "way" }),
    svg("line", { x1: SIDE, x2: SIDE + reached, y1: 34, y2: 34, class: "way reached" }),
    ...tiers.flatMap((tier, index) => [
      svg("circle", { cx: x(index), cy: 34, r: index === currentIndex ? 12 : 8, class: index === currentIndex ? "stop held" : index < currentIndex ? "stop passed" : "stop" }),
      svg("text", { x: x(index), y: 64, "text-anchor": "middle", class: index === currentIndex ? "on-line held" : "on-line" }, tier.name),
      svg("text", { x: x(index), y: 80, "text-anchor": "middle", class: "tick" }, showCount(floorOf(tier))),
    ]),
    ...(points === undefined ? [] : [
      svg("text", { x: Math.max(14, Math.min(width - 14, SIDE + reached)), y: 14, "text-anchor": "middle", class: "on-line" }, showCount(points))]));
}

/** Returns the position of a number of points, in steps between tiers. */
function place(points, tiers) {
  const next = tiers.findIndex((tier) => floorOf(tier) > points);
  if (next === 0) return 0;
  if (next === -1) return tiers.length - 1;
  const [from, to] = [floorOf(tiers[next - 1]), floorOf(tiers[next])];
  return next - 1 + (points - from) / (to - from);
}
