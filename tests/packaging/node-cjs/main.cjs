// Decides whether the installed package works in a CommonJS program. It must not know where the package came from.
const scrip = require("scrip");
const basket = require("./basket.json");

import("./scenario.mjs")
  .then(({ scenario }) => scenario(scrip, basket))
  .then((result) => console.log(JSON.stringify(result)));
