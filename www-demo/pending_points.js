// Shows pending points, and lets a shop activate them early or cancel them.
import { distance, showDate, showPoints } from "./dates.js";
import { at, button, html, showStatus } from "./elements.js";
import { call } from "./server_proxy.js";
import { failure } from "./messages.js";

/** Shows the pending points of the cards; `changed` is called after some were activated or cancelled. */
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
  showStatus("waiting-status", "busy", "Asking…");
  try {
    await call(name, bucket.names);
    showStatus("waiting-status", "done", done);
  } catch (problem) {
    showStatus("waiting-status", "failed", failure(problem));
  }
  await changed();
}
