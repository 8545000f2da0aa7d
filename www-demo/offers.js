// Shows the customer's own codes that apply to the cart, as buttons that enter them.
import * as codes from "./codes.js";

const MOST = 5;
const row = document.querySelector("#applying");
let shown = "";

/** Shows the codes among the offers that a qualification has found, without those of the cart. */
export function draw(found, list) {
  const all = found?.offers ?? found?.likelyOffers ?? [];
  const names = all.filter(({ object, id }) => object === "voucher" && !list.includes(id)).map(({ id }) => id).slice(0, MOST);
  row.hidden = names.length === 0;
  // A button in use stays where it is.
  if (shown === names.join()) return;
  shown = names.join();
  row.replaceChildren(row.firstElementChild, ...names.map((name) => codes.button(name)));
}
