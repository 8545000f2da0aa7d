// Decides how points that wait are shown, and lets a shop bring them in early or send them away. It must not know when they arrive.
import { distance, showDate, showPoints } from "./dates.js";
import { at, button, html, say } from "./elements.js";
import { call } from "./shop.js";
import { failure } from "./words.js";

/** Shows what waits on the cards; `changed` is called after something was brought in or sent away. */
export function draw(cards, changed) {
  const waiting = cards.flatMap(({ names, definition, pending }) => pending.filter(({ status }) => status === "PENDING")
    .map((bucket) => ({ ...bucket, names: { ...names, bucket: bucket.id }, card: definition?.name ?? "the card" })));
  at("nothing-waits").hidden = waiting.length > 0;
  at("waiting").replaceChildren(...waiting.map((bucket) => {
    const what = `${showPoints(bucket.points.total)} for ${bucket.card}`;
    return html("li", {},
      html("div", {}, html("strong", {}, what), html("p", { class: "hint" }, when(bucket))),
      html("div", { class: "row" },
        button("Bring in now", `Bring in now: ${what}`, () => act("activatePending", bucket, `${what} have arrived.`, changed)),
        button("Send away", `Send away: ${what}`, () => act("cancelPending", bucket, `${what} will not arrive.`, changed))));
  }));
}

const when = ({ date }) => (date ? `They arrive on ${showDate(date)}, in ${distance(Date.parse(date))}.` : "They arrive with an event.");

async function act(name, bucket, done, changed) {
  say("waiting-said", "busy", "Asking…");
  try {
    await call(name, bucket.names);
    say("waiting-said", "done", done);
  } catch (problem) {
    say("waiting-said", "failed", failure(problem));
  }
  await changed();
}
