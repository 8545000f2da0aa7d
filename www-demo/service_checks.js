// Makes the requests beyond the rules: the same verdict by the service, a code for a customer, a redemption. It compares the verdicts of
// the page and the service byte by byte.
import { show } from "./money.js";
import { intend, post, proofOf } from "./service.js";
import { failure, reason } from "./messages.js";

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
const at = (id) => document.querySelector(`#${id}`);

function showStatus(id, state, text) {
  at(id).dataset.state = state;
  at(id).textContent = text;
}

let turns = 0;

/**
 * Requests the verdict on `text` from the service and compares it with that of `prepared` at the same time. Facts that only the server has
 * are requested as the customer: codes with a holder are valid for that customer only.
 */
export async function compare(text, prepared, customer) {
  const turn = ++turns;
  const isCurrent = () => turn === turns;
  showStatus("equality", "busy", "Asking the edge…");
  try {
    const utf8 = new TextDecoder();
    const alone = JSON.parse(utf8.decode(prepared.validateBytes(new TextEncoder().encode(text))));
    const proof = alone.missing ? await proofOf(customer.trim()) : {};
    const { bytes, ms, headers } = await post("/client/v1/validations", text, proof);
    if (!isCurrent()) return;
    const context = JSON.parse(headers.get("scrip-context") ?? "null");
    if (!context) return showStatus("equality", "different", "The service did not return the time of its decision.");
    const own = prepared.validateBytes(new TextEncoder().encode(text), context);
    const { missing, omitted } = JSON.parse(utf8.decode(own));
    const difference = firstDifference(own, bytes);
    at("edge-time").textContent = `${ms.toFixed(1)} ms`;
    at("edge-now").textContent = clock.format(new Date(context.now));
    if (difference === -1) {
      showStatus("equality", "identical", `Identical: ${bytes.length.toLocaleString()} bytes, every one the same.`);
    } else if (!missing && omitted && isEqualWithout(omitted, utf8.decode(own), utf8.decode(bytes))) {
      showStatus("equality", "identical", `Identical except for ${omitted.join(", ")}, which only the edge can make.`);
    } else if (missing) {
      showStatus("equality", "provisional", `The page was provisional: it lacks ${missing.join(", ")}. The edge decides: ${
        describeOutcome(JSON.parse(utf8.decode(bytes)))}`);
    } else {
      showStatus("equality", "different", `Different from byte ${difference}: the page has ${own.length.toLocaleString()} bytes, `
        + `the edge ${bytes.length.toLocaleString()}. Its rules may be newer.`);
    }
  } catch (problem) {
    if (isCurrent()) showStatus("equality", problem.offline ? "idle" : "failed", failure(problem));
  }
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
  if (!campaign.trim() || !customer.trim()) return showStatus("deal", "failed", "Say who the customer is and which campaign the code is to come from.");
  showStatus("deal", "busy", "Publishing…");
  try {
    const publication = await intend("/client/v1/publish", { campaign: { name: campaign.trim() }, customer: { source_id: customer.trim() } }, customer.trim());
    const code = publication.voucher?.code ?? publication.vouchers?.[0];
    showStatus("deal", "done", `${code} is yours now, and on the cart. The page does not know it; the server does.`);
    return code;
  } catch (problem) {
    showStatus("deal", "failed", failure(problem));
  }
}

/** Redeems the codes for the cart. */
export async function redeem(body, customer) {
  if (!body) return showStatus("deal", "failed", "Put a code on the cart first.");
  showStatus("deal", "busy", "Redeeming…");
  try {
    const answer = await intend("/client/v1/redemptions", customer.trim() ? { ...body, customer: { source_id: customer.trim() } } : body, customer.trim());
    const done = answer.redemptions?.filter((each) => each.result === "SUCCESS") ?? [];
    const order = answer.order ?? answer.parent_redemption?.order ?? done[0]?.order;
    const pay = order?.total_amount === undefined ? "" : ` To pay: ${show(order.total_amount)}.`;
    showStatus("deal", "done", `Redeemed ${done.length === 1 ? "one code" : `${done.length} codes`}: ${done.map((each) => each.id).join(", ")}.${pay}`);
  } catch (problem) {
    showStatus("deal", "failed", failure(problem));
  }
}
