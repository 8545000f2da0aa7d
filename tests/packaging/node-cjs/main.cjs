// Tests the installed package in a CommonJS program.
const scrip = require("@scrip-edge/page");
const basket = require("./basket.json");

import("./scenario.mjs")
  .then(({ scenario }) => scenario(scrip, basket))
  .then((result) => console.log(JSON.stringify(result)));
