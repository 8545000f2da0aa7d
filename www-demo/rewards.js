// Decides how rewards are shown, bought with points and given back. It must not know whether one can be bought: the service says so.
import { showPoints } from "./dates.js";
import { at, button, html, say } from "./elements.js";
import { decided, optional } from "./membership.js";
import { call } from "./shop.js";
import { show } from "./money.js";
import { failure } from "./words.js";

let purchases = [];

/** Shows the program's rewards and the member's purchases; `changed` is called after something was bought or given back. */
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
    approved ? button("Give back", `Give back ${name}`, () => giveBack(purchase, name, names, changed)) : undefined);
}

/** What came of a purchase, in words. */
function outcome({ status, details }) {
  if (status === "PENDING" || status === "PROCESSING") return "Being decided.";
  if (status !== "APPROVED") return `Not handed over: ${details?.rejection?.reason ?? status}.`;
  const digital = details?.result?.digital;
  const coupons = digital?.discount_coupons?.map(({ code }) => code) ?? [];
  const gifts = digital?.gift_vouchers?.map(({ code, balance }) => (balance === undefined ? code : `${code} (${show(balance)})`)) ?? [];
  const codes = [...coupons, ...gifts].filter(Boolean);
  return codes.length > 0 ? `Yours: ${codes.join(", ")}. Try it on the cart page.` : "It is on its way.";
}

/** Does something about a reward, shows what there is then, and says what came of it: whoever reads that finds the page as it says. */
async function tell(busy, done, changed) {
  say("reward-said", "busy", busy);
  const told = await done().catch((problem) => ["failed", failure(problem)]);
  await changed();
  say("reward-said", ...told);
}

const buy = (reward, names, changed) => tell(`Buying ${reward.name}…`, async () => {
  const { transaction } = await call("buyReward", names, { reward_id: reward.id });
  const bought = await decided("listPurchases", names, transaction);
  return [bought.status === "APPROVED" ? "done" : "failed", `${reward.name}: ${outcome(bought)}`];
}, changed);

const giveBack = (purchase, name, names, changed) => tell(`Giving ${name} back…`, async () => {
  await call("refundReward", { program: names.program, purchase: purchase.id }, {});
  return ["done", `${name} was given back, and so were its points.`];
}, changed);
