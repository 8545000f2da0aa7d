// Decides how the tiers of a program are drawn: the way through them, how far the member has come, what is next and what is at risk.
// It must not decide a tier; the service says which it is.
import { showCount, showDay, showPoints } from "./dates.js";
import { at, html, svg } from "./elements.js";

const HEIGHT = 84;
const SIDE = 34;

let known = { tiers: [], progress: undefined };

/** Draws the tiers from the lowest to the highest, and `progress` as far as there is one. */
export function draw(tiers, progress) {
  known = { tiers: [...tiers].sort((one, other) => floorOf(one) - floorOf(other)), progress };
  const current = progress?.current;
  at("tier").textContent = current?.tier?.name ?? "No tier yet";
  at("tier-notes").replaceChildren(...notes(progress).map((note) => html("li", { "data-state": note.state }, note.text)));
  picture();
}

/** Draws again in the width that there is. */
export function start() {
  new ResizeObserver(picture).observe(at("tier-picture"));
}

const floorOf = (tier) => tier.qualification_rules?.min_value ?? 0;

function notes(progress) {
  if (!progress?.current?.tier?.name) return [{ state: "wait", text: "The service says of no tier that this member holds." }, ...ahead(progress)];
  const { start_at: since, expires_at: until } = progress.current;
  const held = [since && `since ${showDay(since)}`, until && `until ${showDay(until)}`].filter(Boolean).join(", ");
  return [...(held ? [{ state: "done", text: `Held ${held}.` }] : []), ...ahead(progress)];
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
  host.replaceChildren(...(known.tiers.length === 0 ? [] : [way(Math.max(240, host.clientWidth))]));
}

/** The tiers at equal distances, because their bounds are far apart; between two of them the way is in points. */
function way(width) {
  const { tiers, progress } = known;
  const points = progress?.current?.points?.current;
  const holds = tiers.findIndex(({ id }) => id === progress?.current?.tier?.id);
  const x = (index) => SIDE + (index * (width - 2 * SIDE)) / Math.max(1, tiers.length - 1);
  const reached = points === undefined ? 0 : place(points, tiers) * ((width - 2 * SIDE) / Math.max(1, tiers.length - 1));
  const said = holds < 0 ? "no tier yet" : `${tiers[holds].name} is held`;
  const label = `Tiers: ${tiers.map((tier) => `${tier.name} from ${showPoints(floorOf(tier))}`).join(", ")}; ${said}${
    points === undefined ? "" : `, with ${showPoints(points)}`}`;
  return svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label },
    svg("line", { x1: SIDE, x2: width - SIDE, y1: 34, y2: 34, class: "way" }),
    svg("line", { x1: SIDE, x2: SIDE + reached, y1: 34, y2: 34, class: "way gone" }),
    ...tiers.flatMap((tier, index) => [
      svg("circle", { cx: x(index), cy: 34, r: index === holds ? 12 : 8, class: index === holds ? "stop held" : index < holds ? "stop passed" : "stop" }),
      svg("text", { x: x(index), y: 64, "text-anchor": "middle", class: index === holds ? "on-line held" : "on-line" }, tier.name),
      svg("text", { x: x(index), y: 80, "text-anchor": "middle", class: "tick" }, showCount(floorOf(tier))),
    ]),
    ...(points === undefined ? [] : [
      svg("text", { x: Math.max(14, Math.min(width - 14, SIDE + reached)), y: 14, "text-anchor": "middle", class: "on-line" }, showCount(points))]));
}

/** How many steps of the way so many points are. */
function place(points, tiers) {
  const next = tiers.findIndex((tier) => floorOf(tier) > points);
  if (next === 0) return 0;
  if (next === -1) return tiers.length - 1;
  const [from, to] = [floorOf(tiers[next - 1]), floorOf(tiers[next])];
  return next - 1 + (points - from) / (to - from);
}
