// Shows a verdict: the total, a line per code, the bytes. All amounts come from the engine.
import { show } from "./money.js";
import { reason } from "./messages.js";

const at = (id) => document.querySelector(`#${id}`);

/** Returns every code of the answer once, in the order of the request. */
export function perCode(answer, codes) {
  const all = [...(answer.redeemables ?? []), ...(answer.inapplicable_redeemables ?? []), ...(answer.skipped_redeemables ?? [])];
  return codes.map((code) => all.find((each) => each.id === code) ?? { id: code, status: "INAPPLICABLE" });
}

/** Returns whether the engine did not know this code at all: only the server may have it. */
export const undecided = (item) => item.result?.details?.key === "known_to_server_only";

const applies = (item) => item.status === "APPLICABLE";

/** Shows the verdict on a cart that costs `before`; codes that were refused before it are shown next to its own. */
export function draw({ verdict, refused }, codes, before) {
  const { text } = verdict;
  const answer = { ...verdict.answer, inapplicable_redeemables: [...(verdict.answer.inapplicable_redeemables ?? []), ...refused] };
  const order = answer.order ?? {};
  const total = order.total_amount ?? before;
  const saved = Math.max(0, before - total);
  at("total").textContent = show(total);
  at("was").textContent = show(before);
  at("was").hidden = saved === 0;
  at("summary").textContent = summary(answer, codes, saved);
  at("verdicts").replaceChildren(...perCode(answer, codes).map((item) => line(item, answer)));
  at("answer").textContent = JSON.stringify(JSON.parse(text), null, 2);
  at("size").textContent = new TextEncoder().encode(text).length.toLocaleString();
}

/** Shows the reason why there is no answer. */
export function drawNothing(why, before) {
  at("total").textContent = before === undefined ? "–" : show(before);
  at("was").hidden = true;
  at("summary").textContent = why;
  at("verdicts").replaceChildren();
  at("answer").textContent = "";
  at("size").textContent = "0";
}

function summary(answer, codes, saved) {
  if (answer.key) return reason(answer);
  const all = perCode(answer, codes);
  if (!answer.valid && all.some(applies)) {
    const others = all.filter((item) => !applies(item)).map((item) => item.id);
    return `All codes must apply or none does: it hangs on ${others.join(", ")}.`;
  }
  if (all.some(undecided)) return "Provisional: the page does not know all of these codes.";
  const result = saved > 0 ? `You save ${show(saved)}.` : answer.valid ? "Valid, but nothing is taken off." : "Nothing is taken off.";
  return answer.missing ? `${result} Provisional: only the server counts how often a code was used.` : result;
}

function line(item, answer) {
  const state = undecided(item) ? "UNKNOWN" : item.status;
  const row = document.createElement("li");
  row.dataset.state = state.toLowerCase();
  const name = document.createElement("span");
  name.className = "code";
  name.textContent = item.id;
  const badge = document.createElement("span");
  badge.className = "badge";
  badge.textContent = { APPLICABLE: answer.valid ? "Applied" : "Would apply", SKIPPED: "Skipped", UNKNOWN: "Provisional" }[state] ?? "Not applied";
  const off = document.createElement("span");
  off.className = "off";
  const applied = item.order?.total_applied_discount_amount;
  if (applied !== undefined) off.textContent = `−${show(applied)}`;
  const why = document.createElement("span");
  why.className = "why";
  why.textContent = because(item, state);
  row.append(name, badge, off, why);
  return row;
}

function because(item, state) {
  if (state === "UNKNOWN") return "The page does not know this code: the edge decides.";
  if (state !== "APPLICABLE") return reason(item.result?.error ?? item.result?.details);
  return worth(item.result) ?? "";
}

/** Describes the effect of a code. */
function worth(result) {
  const discount = result?.discount;
  const target = discount?.effect?.startsWith("APPLY_TO_ITEMS") ? "the items" : "the cart";
  if (discount?.type === "PERCENT") return `${discount.percent_off} % off ${target}`;
  if (discount?.type === "AMOUNT") return `${show(discount.amount_off)} off ${target}`;
  if (result?.gift) return `Gift card: ${show(result.gift.credits ?? 0)} of ${show(result.gift.balance ?? 0)} used`;
  return undefined;
}
