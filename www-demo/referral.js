// Publishes a referral code to the member and lets a friend redeem it. The service decides what both get.
import { TRY } from "./config.js";
import { showPoints } from "./dates.js";
import { at, html, showStatus } from "./elements.js";
import { optional, updateVisitor, visitor } from "./membership.js";
import { show } from "./money.js";
import { tokenOf } from "./customer_tokens.js";
import { intend } from "./service.js";
import { call } from "./server_proxy.js";
import { failure } from "./messages.js";

const ORDER = 3000;
const ROLES = { REFERRER: "passes it on", REFEREE: "was referred" };

/** Listens to the two steps; `shown` returns the current membership, `changed` reads it again and returns it. */
export function start(currentMembership, changed) {
  at("share").addEventListener("click", () => share());
  at("friend-form").addEventListener("submit", (event) => {
    event.preventDefault();
    refer(currentMembership, changed);
  });
}

/** Shows the code and its holders. */
export async function draw() {
  const code = visitor?.code;
  at("referral-code").textContent = code ?? "no code yet";
  at("befriend").disabled = !code;
  at("share").disabled = Boolean(code);
  const holders = (code && (await optional("listHolders", { code }))?.data) || [];
  at("holders").replaceChildren(...holders.map(({ customer_id: id, holder_role: role }) => html("li", {},
    html("strong", {}, id === visitor.customer ? visitor.name : visitor.friends?.[id] ?? "A customer"), ` ${ROLES[role] ?? role}`)));
}

async function share() {
  showStatus("referral-status", "busy", "Publishing…");
  try {
    const publication = await intend("/client/v1/publish", { campaign: { name: TRY.friends }, customer: { source_id: visitor.source_id } }, await tokenOf(visitor.source_id));
    updateVisitor({ code: publication.voucher?.code ?? publication.vouchers?.[0] });
    await draw();
    showStatus("referral-status", "done", `${visitor.code} is yours to pass on. A friend may use it; you may not.`);
  } catch (problem) {
    showStatus("referral-status", "failed", failure(problem));
  }
}

async function refer(currentMembership, changed) {
  const name = at("friend").value.trim();
  if (!name) return showStatus("referral-status", "failed", "Say what the friend is called.");
  showStatus("referral-status", "busy", `${name} redeems ${visitor.code}…`);
  at("befriend").disabled = true;
  try {
    const source_id = `friend-${crypto.randomUUID()}`;
    const friend = await call("createCustomer", {}, { source_id, name });
    updateVisitor({ friends: { ...visitor.friends, [friend.id]: name } });
    const redeemed = await redeem(source_id);
    // A shop's server, which gets the redemption, sends the event for the referrer.
    await call("sendEvent", {}, { event: "friend_joined", customer: { source_id: visitor.source_id } });
    const before = pointsOf(currentMembership());
    const after = pointsOf(await changed());
    const gifts = ((await optional("listGifts", { customer: friend.id }))?.vouchers ?? []).filter(({ gift }) => gift);
    at("friend").value = "";
    await draw();
    showStatus("referral-status", "done", [
      `${name} pays ${show(redeemed)} for ${show(ORDER)}`,
      ...gifts.map(({ code, gift }) => `and has the gift card ${code} with ${show(gift.balance ?? gift.amount)}`),
    ].join(" ") + `. ${visitor.name} ${after > before ? `has ${showPoints(after - before)} waiting` : "gets nothing this time"}.`);
  } catch (problem) {
    showStatus("referral-status", "failed", failure(problem));
    await draw();
  }
}

/** Redeems the code as the friend, proven by a token like a customer who is logged in; returns the amount to pay. */
async function redeem(source_id) {
  const body = { redeemables: [{ object: "voucher", id: visitor.code }], order: { amount: ORDER }, customer: { source_id } };
  const answer = await intend("/client/v1/redemptions", body, await tokenOf(source_id));
  return (answer.order ?? answer.redemptions?.[0]?.order)?.total_amount ?? ORDER;
}

const pointsOf = (membership) => membership.cards.reduce((sum, { balance }) => sum + balance.points + balance.pending_points, 0);
