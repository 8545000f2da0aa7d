// Shows rewards, buys them with points and returns them. The service decides whether one can be bought.
import { showPoints } from "./dates.js";
import { at, button, html, showStatus } from "./elements.js";
import { optional, waitForDecision } from "./membership.js";
import { call } from "./server_proxy.js";
import { show } from "./money.js";
import { failure } from "./messages.js";

let purchases = [];

/** Shows the program's rewards and the member's purchases; `changed` is called after a purchase or a return. */
export async function draw({ program, names }, changed) {
  at("rewards").replaceChildren(...program.rewards.map((reward) => {
    const points = reward.costs?.[0]?.spending?.[0]?.points ?? 0;
    return html("li", {},
      html("div", {}, html("strong", {}, reward.name), html("p", { class: "hint" }, `${reward.type === "DIGITAL" ? "A code" : "Sent to you"} · ${showPoints(points)}`)),
      button(`Buy`, `Buy ${reward.name} for ${showPoints(points)}`, () => buy(reward, names, changed), ""));
  }));
  at("no-rewards").hidden = program.rewards.length > 0;
  purchases = (await optional("listPurchases", names))?.data ?? [];
  at("purchases").replaceChildren(...purchases.filter(({ type }) => type === "PURCHASE").map((purchase) => row(purchase, program, names, changed)));
}

const nameOf = (program, { reward_id: id }) => program.rewards.find((reward) => reward.id === id)?.name ?? "A reward";

function row(purchase, program, names, changed) {
  const name = nameOf(program, purchase);
  const approved = purchase.status === "APPROVED";
  return html("li", { "data-state": approved ? "done" : "failed" },
    html("div", {}, html("strong", {}, name), html("p", { class: "hint" }, outcome(purchase))),
    approved ? button("Give back", `Give back ${name}`, () => returnReward(purchase, name, names, changed)) : undefined);
}

/** Describes the result of a purchase. */
function outcome({ status, details }) {
  if (status === "PENDING" || status === "PROCESSING") return "Being decided.";
  if (status !== "APPROVED") return `Not granted: ${details?.rejection?.reason ?? status}.`;
  const digital = details?.result?.digital;
  const coupons = digital?.discount_coupons?.map(({ code }) => code) ?? [];
  const gifts = digital?.gift_vouchers?.map(({ code, balance }) => (balance === undefined ? code : `${code} (${show(balance)})`)) ?? [];
  const codes = [...coupons, ...gifts].filter(Boolean);
  return codes.length > 0 ? `Yours: ${codes.join(", ")}. Try it on the cart page.` : "It is on its way.";
}

/** Runs an action on a reward, refreshes the page, and then shows the result: the page already matches the message. */
async function runAction(busy, done, changed) {
  showStatus("reward-status", "busy", busy);
  const status = await done().catch((problem) => ["failed", failure(problem)]);
  await changed();
  showStatus("reward-status", ...status);
}

const buy = (reward, names, changed) => runAction(`Buying ${reward.name}…`, async () => {
  const { transaction } = await call("buyReward", names, { reward_id: reward.id });
  const bought = await waitForDecision("listPurchases", names, transaction);
  return [bought.status === "APPROVED" ? "done" : "failed", `${reward.name}: ${outcome(bought)}`];
}, changed);

const returnReward = (purchase, name, names, changed) => runAction(`Giving ${name} back…`, async () => {
  await call("refundReward", { program: names.program, purchase: purchase.id }, {});
  return ["done", `${name} was given back, and so were its points.`];
}, changed);
