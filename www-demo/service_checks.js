// Does what only the service does: the verdict on codes that the page does not know, a code for a customer, a redemption. It compares the
// verdicts of the page and the service byte by byte.
import { show } from "./money.js";
import { tokenOf } from "./customer_tokens.js";
import { failure, reason } from "./messages.js";
import { intend, isOffline } from "./service.js";
import { ask } from "./shop.js";
import * as stack from "./stack.js";

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
const at = (id) => document.querySelector(`#${id}`);

function showStatus(id, state, text) {
  at(id).dataset.state = state;
  at(id).textContent = text;
}

let turns = 0;

/**
 * Requests the verdict on the codes of a cart from the service and compares it with that of the page at the same time. Returns the verdict of the
 * service where the page has none of its own.
 */
export async function compare(shop, { codes, items }) {
  const turn = ++turns;
  const isCurrent = () => turn === turns;
  showStatus("equality", "busy", "Asking the edge…");
  try {
    let last;
    const asked = await stack.decide(codes, items, async (text) => (last = await ask(shop, text)).verdict);
    if (!isCurrent()) return undefined;
    const { context, ms } = last;
    if (!context) return showStatus("equality", "different", "The service did not return the time of its decision.");
    at("edge-time").textContent = `${ms.toFixed(1)} ms`;
    at("edge-now").textContent = clock.format(new Date(context.now));
    const own = shop.checkNow(asked.text, context);
    showStatus("equality", ...equality(own, asked.verdict));
    // A code that the page does not know may be among those that the service has refused before.
    return own.kind === "provisional" || asked.refused.length > 0 ? asked : undefined;
  } catch (problem) {
    if (isCurrent()) showStatus("equality", problem.offline ? "idle" : "failed", failure(problem));
    return undefined;
  }
}

/** Returns the state and the sentence for two verdicts on the same request. */
function equality(own, asked) {
  const [bytes, others] = [own, asked].map(({ text }) => new TextEncoder().encode(text));
  const difference = firstDifference(bytes, others);
  if (own.kind === "provisional") return ["provisional", `The page was provisional: it lacks ${own.missing.join(", ")}. The edge decides: ${describeOutcome(asked.answer)}`];
  if (difference === -1) return ["identical", `Identical: ${bytes.length.toLocaleString()} bytes, every one the same.`];
  if (own.omitted.length > 0 && isEqualWithout(own.omitted, own.text, asked.text)) return ["identical", `Identical except for ${own.omitted.join(", ")}, which only the edge can make.`];
  return ["different", `Different from byte ${difference}: the page has ${bytes.length.toLocaleString()} bytes, the edge ${others.length.toLocaleString()}. Its rules may be newer.`];
}

/** Returns true if two answers are equal without the fields that the page left out. */
function isEqualWithout(omitted, own, other) {
  const [text, otherText] = [own, other].map((answer) => {
    const parsed = JSON.parse(answer);
    for (const name of [...omitted, "omitted"]) delete parsed[name];
    return JSON.stringify(parsed);
  });
  return text === otherText;
}

/** Describes the result of an answer in one sentence. */
function describeOutcome(answer) {
  if (answer.valid) return `to pay ${show(answer.order?.total_amount ?? 0)}.`;
  const refusal = answer.redeemables?.find((each) => each.status === "INAPPLICABLE");
  return `${refusal ? `${refusal.id}: ` : ""}${reason(refusal?.result?.error)}`;
}

/** Shows that no comparison is possible now. */
export function pause(why) {
  turns += 1;
  showStatus("equality", "idle", why);
}

/** Returns the index of the first byte that differs, or -1. */
function firstDifference(one, other) {
  const length = Math.max(one.length, other.length);
  for (let index = 0; index < length; index += 1) if (one[index] !== other[index]) return index;
  return -1;
}

/** Publishes a code of a campaign to a customer; returns the code, or undefined. */
export async function publish(campaign, customer) {
  if (!campaign || !customer) return showStatus("deal", "failed", "Say who the customer is and which campaign the code is to come from.");
  showStatus("deal", "busy", "Publishing…");
  try {
    const body = { campaign: { name: campaign }, customer: { source_id: customer } };
    const publication = await intend("/client/v1/publish", body, await tokenOf(customer));
    const code = publication.voucher?.code ?? publication.vouchers?.[0];
    showStatus("deal", "done", `${code} is yours now, and on the cart.`);
    return code;
  } catch (problem) {
    showStatus("deal", "failed", failure(problem));
  }
}

/** Redeems the codes for the cart; without a network that happens later. */
export async function redeem(shop, body, customer) {
  if (!body) return showStatus("deal", "failed", "Put a code on the cart first.");
  showStatus("deal", "busy", isOffline() ? "Offline: it is kept, is sent when the network returns, and counts once." : "Redeeming…");
  const isProven = (await tokenOf(customer)) !== undefined;
  const request = customer && !isProven ? { ...body, customer: { source_id: customer } } : body;
  await showRedemption(shop.redeem(JSON.stringify(request)));
}

/** Continues the redemptions of an earlier visit that have no answer yet. */
export async function resume(shop) {
  const pending = await shop.pending();
  if (pending.length > 0) showStatus("deal", "busy", "A redemption of your last visit has no answer yet: it is sent again, and counts once.");
  for (const each of pending) await showRedemption(each.resume());
}

async function showRedemption(redemption) {
  try {
    const { kind, status, answer } = await redemption;
    if (kind === "refused") return showStatus("deal", "failed", failure({ status, body: answer }));
    const done = answer.redemptions.filter((each) => each.result === "SUCCESS");
    const order = answer.order ?? answer.parent_redemption?.order ?? done[0]?.order;
    const pay = order?.total_amount === undefined ? "" : ` To pay: ${show(order.total_amount)}.`;
    showStatus("deal", "done", `Redeemed ${done.length === 1 ? "one code" : `${done.length} codes`}: ${done.map((each) => each.id).join(", ")}.${pay}`);
  } catch (problem) {
    showStatus("deal", "failed", problem.code === "unanswered" ? "It is not known whether this redemption counts." : failure(problem));
  }
}
