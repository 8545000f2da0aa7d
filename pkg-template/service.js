// Joins all that needs the service. The entries export `openShop` alone; the others are its pieces, which the tests import from here.
export { fetchBundle, fetchGoods } from "./bundle.js";
export { openShop } from "./shop/open.js";
export { watchHead } from "./watch.js";
