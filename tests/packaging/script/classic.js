window.result = Promise.all([fetch("basket.json").then((reply) => reply.json()), import("./scenario.mjs")])
  .then(([basket, { scenario }]) => scenario(window.scrip, basket));
