// Tests that plain objects in and out mean the same as their text. A request that is given as an object is answered as the text that
// `JSON.stringify` makes of it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "../../pkg-template/build.mjs";
import { countTests } from "../browser/test_report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const pkg = join(here, "../../pkg");
const { rules, request, context } = JSON.parse(readFileSync(join(here, "basket.json"), "utf8"));
const check = countTests("packaging");

let prepared;

before(async () => {
  if (!existsSync(join(pkg, "scrip.wasm"))) await build(pkg);
  const scrip = await import("../../pkg/node.js");
  prepared = scrip.prepare(rules);
}, { timeout: 600_000 });

/** The request with custom data, which an answer contains again. */
const about = (metadata) => ({ ...request, order: { ...request.order, metadata } });

class Price {
  constructor(minor) { this.minor = minor; }
  get shown() { return `${this.minor}`; }
}

const nested = (levels) => (levels === 0 ? 1 : { inner: nested(levels - 1) });
const named = (name) => JSON.parse(`{ "a": { "${name}": { "admin": true } } }`);

const REQUESTS = {
  "plain data": about({ text: "Café ☕", yes: true, none: null, list: [1, [2, {}], []], object: { b: 1, a: 2 } }),
  "a date": about({ at: new Date(1772366400000), list: [new Date(0)] }),
  "what is left out": about({ gone: undefined, call() {}, mark: Symbol("mark"), kept: 1 }),
  "what is nothing in a list": about({ list: [undefined, () => 1, Symbol("mark"), 1] }),
  "a list with holes": about({ list: Object.assign([], { 0: 1, 3: 4 }) }),
  "what is no number": about({ list: [NaN, Infinity, -Infinity] }),
  "numbers of every size": about({
    list: [0, -0, 0.1, -0.1, 1e-7, 1.5e-7, 5e-324, 123456.789, 1e15, 1e16, 1e17, 123456789012345680000, 1e21, 1.5e300, 1.7976931348623157e308,
      2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 2 ** 63, -(2 ** 63), 2 ** 64],
  }),
  "boxed values": about({ list: [Object(1), Object("a"), Object(true)] }),
  "what says itself how it is written": about({ toJSON: () => ({ said: true }) }),
  "an object of a class": about({ price: new Price(100) }),
  "an object without a prototype": about(Object.assign(Object.create(null), { a: 1 })),
  "collections": about({ map: new Map([["a", 1]]), set: new Set([1]), bytes: new Uint8Array([1, 2]) }),
  "a name that would change what an object inherits": about(named("__proto__")),
  "other names that objects have": about({ ...named("constructor"), ...named("toString"), ...named("hasOwnProperty") }),
  "the name that the library has a use of its own for": about(JSON.parse('{ "$serde_json::private::Number": "12" }')),
  "a text with an unpaired surrogate": about({ text: "\ud83d" }),
  "a name with an unpaired surrogate": about({ "\udc4d": 1 }),
  "names like numbers": about({ 2: "two", 1: "one", b: "b", 10: "ten" }),
  "the same object twice": (() => { const shared = { a: [1] }; return about({ one: shared, other: shared }); })(),
  "as deep as may be": about(nested(61)),
  "too deep": about(nested(65)),
  "a text that is too long": about({ text: "x".repeat(20_001) }),
  "a name that is too long": about({ ["x".repeat(20_001)]: 1 }),
  "too many values": about({ list: Array.from({ length: 100_001 }, () => 1) }),
  "a wrong value": { ...request, order: { items: [{ quantity: "many" }] } },
  "no redeemables": { order: request.order },
  "a list": [request],
  "a text": "request",
  "a number": 5,
  "yes": true,
  "null": null,
};

for (const [what, sent] of Object.entries(REQUESTS)) {
  for (const verb of ["validate", "qualify"]) {
    check(`${verb}: ${what}, as an object and as its text`, () => {
      const text = JSON.parse(prepared[verb](JSON.stringify(sent), context));
      assert.deepStrictEqual(prepared[`${verb}Object`](sent, context), text);
    });
  }
}

check("custom data is returned as it was sent", () => {
  const { metadata } = prepared.validateObject(REQUESTS["a name that would change what an object inherits"], context).order;
  assert.deepEqual(Object.keys(metadata.a), ["__proto__"]);
  assert.equal(metadata.a.admin, undefined, "nothing is inherited");
  assert.equal({}.admin, undefined);
});

check("a value that cannot be written as JSON is refused before the decision", () => {
  const loop = { ...request };
  loop.order = { metadata: { loop } };
  for (const wrong of [undefined, () => 1, Symbol("mark"), 5n, about({ big: 5n }), loop]) {
    assert.throws(() => prepared.validateObject(wrong, context), /^Error: the request must be an object that can be written as JSON$/);
  }
});

check("sent objects are not changed", () => {
  const sent = Object.freeze({ ...request, order: Object.freeze({ ...request.order, metadata: Object.freeze({ a: 1 }) }) });
  const before = JSON.stringify(sent);
  prepared.validateObject(sent, context);
  assert.equal(JSON.stringify(sent), before);
});
