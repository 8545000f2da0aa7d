// Opens a shop: one object over rules, goods, codes, the customer, redemptions and the state of all.
import { checkLoaded } from "../api.js";
import { readOptions } from "./options.js";
import { Shop } from "./shop.js";

/** Opens a shop with the engine that is loaded; resolves as soon as it can decide, or when the service cannot be reached. */
export async function openShop(options) {
  const read = readOptions(options);
  checkLoaded();
  return Shop.open(read);
}
