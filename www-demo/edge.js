// Decides what is asked of the service beyond the rules: the same verdict again, a code for a customer, a redemption.
// It must not decide a verdict; it compares the one of the page with the one of the server, byte by byte.
import { show } from "./money.js";
import { intend, post, proofOf } from "./service.js";
import { failure, reason } from "./words.js";

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
const at = (id) => document.querySelector(`#${id}`);

function say(id, state, text) {
  at(id).dataset.state = state;
  at(id).textContent = text;
}

let asked = 0;

/**
 * Asks the service for the verdict on `text` and compares it with what `prepared` says at the same moment. What only the server can
 * know is asked for as the customer: a code that they hold is nobody else's.
 */
export async function compare(text, prepared, customer) {
  const turn = ++asked;
  const current = () => turn === asked;
  say("equality", "busy", "Asking the edge…");
  try {
    const utf8 = new TextDecoder();
    const alone = JSON.parse(utf8.decode(prepared.validateBytes(new TextEncoder().encode(text))));
    const proof = alone.provisional ? await proofOf(customer.trim()) : {};
    const { bytes, ms, headers } = await post("/client/v1/validations", text, proof);
    if (!current()) return;
    const context = JSON.parse(headers.get("scrip-context") ?? "null");
    if (!context) return say("equality", "different", "The service did not say at which moment it decided.");
    const own = prepared.validateBytes(new TextEncoder().encode(text), context);
    const lacked = JSON.parse(utf8.decode(own)).provisional;
    const difference = firstDifference(own, bytes);
    at("edge-time").textContent = `${ms.toFixed(1)} ms`;
    at("edge-now").textContent = clock.format(new Date(context.now));
    if (difference === -1) {
      say("equality", "identical", `Identical: ${bytes.length.toLocaleString()} bytes, every one the same.`);
    } else if (lacked) {
      say("equality", "provisional", `The page was provisional, for want of ${lacked.join(", ")}. The edge knows: ${
        outcome(JSON.parse(utf8.decode(bytes)))}`);
    } else {
      say("equality", "different", `Different from byte ${difference}: the page has ${own.length.toLocaleString()} bytes, `
        + `the edge ${bytes.length.toLocaleString()}. Its rules may be newer.`);
    }
  } catch (problem) {
    if (current()) say("equality", problem.offline ? "idle" : "failed", failure(problem));
  }
}

/** What an answer comes to, in one sentence. */
function outcome(answer) {
  if (answer.valid) return `to pay ${show(answer.order?.total_amount ?? 0)}.`;
  const refused = answer.redeemables?.find((each) => each.status === "INAPPLICABLE");
  return `${refused ? `${refused.id}: ` : ""}${reason(refused?.result?.error)}`;
}

/** Nothing can be compared now. */
export function pause(why) {
  asked += 1;
  say("equality", "idle", why);
}

/** The index of the first byte that differs, or -1. */
function firstDifference(one, other) {
  const length = Math.max(one.length, other.length);
  for (let index = 0; index < length; index += 1) if (one[index] !== other[index]) return index;
  return -1;
}

/** Publishes a code of a campaign to a customer; gives the code, or nothing. */
export async function publish(campaign, customer) {
  if (!campaign.trim() || !customer.trim()) return say("deal", "failed", "Say who the customer is and which campaign the code is to come from.");
  say("deal", "busy", "Publishing…");
  try {
    const publication = await intend("/client/v1/publish", { campaign: { name: campaign.trim() }, customer: { source_id: customer.trim() } }, customer.trim());
    const code = publication.voucher?.code ?? publication.vouchers?.[0];
    say("deal", "done", `${code} is yours now, and on the cart. The page does not know it; the server does.`);
    return code;
  } catch (problem) {
    say("deal", "failed", failure(problem));
  }
}

/** Redeems the codes for the cart. */
export async function redeem(body, customer) {
  if (!body) return say("deal", "failed", "Put a code on the cart first.");
  say("deal", "busy", "Redeeming…");
  try {
    const answer = await intend("/client/v1/redemptions", customer.trim() ? { ...body, customer: { source_id: customer.trim() } } : body, customer.trim());
    const done = answer.redemptions?.filter((each) => each.result === "SUCCESS") ?? [];
    const order = answer.order ?? answer.parent_redemption?.order ?? done[0]?.order;
    const pay = order?.total_amount === undefined ? "" : ` To pay: ${show(order.total_amount)}.`;
    say("deal", "done", `Redeemed ${done.length === 1 ? "one code" : `${done.length} codes`}: ${done.map((each) => each.id).join(", ")}.${pay}`);
  } catch (problem) {
    say("deal", "failed", failure(problem));
  }
}
