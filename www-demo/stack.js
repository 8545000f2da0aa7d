// Selects the codes of a cart for one request. A project may want all of them to apply or none; this cart keeps the valid ones. A refused
// code is left out of the request and shown next to the others.
import { perCode, undecided } from "./verdict.js";

const bodyOf = (codes, items) => JSON.stringify({ redeemables: codes.map((id) => ({ object: "voucher", id })), order: { items } });

/**
 * Calls `validate` for the codes without those that it refuses. Returns the text of the request, the text of its answer, and the items of
 * the refused codes. Where every code is refused, all of them are sent.
 */
export function decide(codes, items, validate) {
  const refused = [];
  let left = codes;
  for (;;) {
    const text = bodyOf(left, items);
    const answerText = validate(text);
    const answer = JSON.parse(answerText);
    const wrong = answer.valid || answer.key ? [] : perCode(answer, left).filter((item) => item.status === "INAPPLICABLE" && !undecided(item));
    if (wrong.length === 0) return { text, answerText, refused };
    if (wrong.length === left.length) return { text: bodyOf(codes, items), answerText: validate(bodyOf(codes, items)), refused: [] };
    refused.push(...wrong);
    left = left.filter((code) => !wrong.some(({ id }) => id === code));
  }
}
