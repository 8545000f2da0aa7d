// Decides how a code is passed on and used: the member has one published, a friend redeems it, both get something. It must not know
// what they get; it shows what the service says of both.
import { TRY } from "./config.js";
import { showPoints } from "./dates.js";
import { at, html, say } from "./elements.js";
import { keep, optional, visitor } from "./membership.js";
import { show } from "./money.js";
import { intend } from "./service.js";
import { call } from "./shop.js";
import { failure } from "./words.js";

const ORDER = 3000;
const ROLES = { REFERRER: "passes it on", REFEREE: "was referred" };

/** Listens to the two steps; `shown` gives what is known of the membership, `changed` reads it again and gives it. */
export function start(shown, changed) {
  at("share").addEventListener("click", () => share());
  at("friend-form").addEventListener("submit", (event) => {
    event.preventDefault();
    refer(shown, changed);
  });
}

/** Shows the code and who holds it. */
export async function draw() {
  const code = visitor?.code;
  at("referral-code").textContent = code ?? "no code yet";
  at("befriend").disabled = !code;
  at("share").disabled = Boolean(code);
  const holders = (code && (await optional("listHolders", { code }))?.data) || [];
  at("holders").replaceChildren(...holders.map(({ customer_id: id, holder_role: role }) => html("li", {},
    html("strong", {}, id === visitor.customer ? visitor.name : visitor.friends?.[id] ?? "Somebody"), ` ${ROLES[role] ?? role}`)));
}

async function share() {
  say("referral-said", "busy", "Publishing…");
  try {
    const publication = await intend("/client/v1/publish", { campaign: { name: TRY.friends }, customer: { source_id: visitor.source_id } }, visitor.source_id);
    keep({ code: publication.voucher?.code ?? publication.vouchers?.[0] });
    await draw();
    say("referral-said", "done", `${visitor.code} is yours to pass on. A friend may use it; you may not.`);
  } catch (problem) {
    say("referral-said", "failed", failure(problem));
  }
}

async function refer(shown, changed) {
  const name = at("friend").value.trim();
  if (!name) return say("referral-said", "failed", "Say what the friend is called.");
  say("referral-said", "busy", `${name} redeems ${visitor.code}…`);
  at("befriend").disabled = true;
  try {
    const source_id = `friend-${crypto.randomUUID()}`;
    const friend = await call("createCustomer", {}, { source_id, name });
    keep({ friends: { ...visitor.friends, [friend.id]: name } });
    const redeemed = await redeem(source_id);
    // A shop's server, which sees the redemption, tells of it for whoever passed the code on.
    await call("tellEvent", {}, { event: "friend_joined", customer: { source_id: visitor.source_id } });
    const before = waiting(shown());
    const after = waiting(await changed());
    const gifts = ((await optional("listGifts", { customer: friend.id }))?.vouchers ?? []).filter(({ gift }) => gift);
    at("friend").value = "";
    await draw();
    say("referral-said", "done", [
      `${name} pays ${show(redeemed)} for ${show(ORDER)}`,
      ...gifts.map(({ code, gift }) => `and has the gift card ${code} with ${show(gift.balance ?? gift.amount)}`),
    ].join(" ") + `. ${visitor.name} ${after > before ? `has ${showPoints(after - before)} waiting` : "gets nothing this time"}.`);
  } catch (problem) {
    say("referral-said", "failed", failure(problem));
    await draw();
  }
}

/** The friend redeems the code, proven by a token as whoever is logged in is; gives what they pay. */
async function redeem(source_id) {
  const body = { redeemables: [{ object: "voucher", id: visitor.code }], order: { amount: ORDER }, customer: { source_id } };
  const answer = await intend("/client/v1/redemptions", body, source_id);
  return (answer.order ?? answer.redemptions?.[0]?.order)?.total_amount ?? ORDER;
}

const waiting = (membership) => membership.cards.reduce((sum, { balance }) => sum + balance.points + balance.pending_points, 0);
