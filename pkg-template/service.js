// Joins all that needs the service: bundles, and the shop over them.
export { fetchBundle, fetchGoods, watchHead } from "./bundle.js";
export { openShop } from "./shop/open.js";
