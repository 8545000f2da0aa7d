// Tests the hooks for React in a page of jsdom, and on a server: a verdict belongs to the cart that is shown, and rendering does no work.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "node:test";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { transform } from "esbuild";
import { JSDOM } from "jsdom";
import { createElement, StrictMode, useState } from "react";
import { renderToString } from "react-dom/server";
import { countTests } from "../browser/test_report.mjs";
import { keyPair, rules, startServer } from "./bundle_server.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("packaging");
const pair = keyPair();
const key = { id: "app", token: "secret" };
const voucher = (code, amount_off) => ({ id: `v_${code}`, code, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off }, active: true });
const RULES = rules({ vouchers: [voucher("TEN", 100), voucher("TWENTY", 200)] });

let hooks;
let createRoot;
let server;
let root;
let renders;
let used;

before(async () => {
  const { window } = new JSDOM("<main></main>", { url: "https://shop.example/" });
  for (const [name, value] of Object.entries({ window, document: window.document, navigator: window.navigator })) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  // The page's events know no signals of this process.
  const listen = document.addEventListener.bind(document);
  document.addEventListener = (type, listener) => listen(type, listener);
  ({ createRoot } = await import("react-dom/client"));
  hooks = await import("../../pkg/react.js");
  server = await startServer();
});
after(() => {
  server.close();
});
beforeEach(() => {
  [renders, used] = [[], {}];
  server.serve(pair, RULES);
  root = createRoot(document.querySelector("main"));
});
afterEach(() => root.unmount());

const options = (more) => ({ url: server.base, key, keys: [pair.jwk], store: "memory", ...more });
const cartOf = (code) => ({ redeemables: [{ object: "voucher", id: code }], order: { amount: 1_000 } });
const text = () => document.querySelector("main").textContent;
const until = (condition, what) => waitUntil(condition, () => `${what}; it shows \`${text()}\``, { pause: 5 });

/** A checkout whose cart is created again at each rendering, as in most pages. */
function Checkout({ first = "TEN", more }) {
  const [code, setCode] = useState(first);
  const { shop, state, problem } = hooks.useShop(options(more));
  const verdict = hooks.useVerdict(shop, cartOf(code));
  used = { shop, setCode };
  renders.push({ code, kind: verdict?.kind, total: verdict?.order?.total_amount });
  return `${code}: ${verdict?.valid ? verdict.order.total_amount : (verdict?.kind ?? "undecided")} ${state ?? "unopened"} ${problem?.name ?? ""}`;
}

check("a verdict comes with the shop, and follows the cart; that of another cart is never shown", async () => {
  root.render(createElement(Checkout));
  await until(() => text().startsWith("TEN: 900 fresh"), "a yes");
  for (const code of ["TWENTY", "NONE", "TEN", "TWENTY"]) {
    used.setCode(code);
    await until(() => text().startsWith(`${code}: `) && !text().includes("undecided"), code);
  }
  const right = { TEN: 900, TWENTY: 800, NONE: undefined };
  for (const { code, total } of renders) assert.ok(total === undefined || total === right[code], `${code} shows ${total}`);
  await sleep(50);
  assert.ok(renders.length < 60, `${renders.length} renderings`);
});

check("new rules change the verdict that is shown", async () => {
  root.render(createElement(Checkout));
  await until(() => text().startsWith("TEN: 900"), "a yes");
  server.serve(pair, rules({ vouchers: [voucher("TEN", 300)] }), { rev: 3_000 });
  await used.shop.refresh();
  await until(() => text().startsWith("TEN: 700"), "the new discount");
  server.state.instead.bundle = (request) => request.socket.destroy();
  await used.shop.refresh();
  await until(() => text() === "TEN: 700 offline TypeError", "the state");
});

check("in strict mode, where effects run twice, one shop stays; it ends with the component", async () => {
  root.render(createElement(StrictMode, null, createElement(Checkout)));
  await until(() => text().startsWith("TEN: 900"), "a yes");
  const { shop } = used;
  root.unmount();
  await until(() => shop.checkNow(cartOf("TEN")).missing?.includes("bundle"), "it is closed");
  root = createRoot(document.querySelector("main"));
});

check("options that cannot be used are a problem, not an exception of the page", async () => {
  root.render(createElement(Checkout, { more: { store: "disk" } }));
  await until(() => text() === "TEN: undecided broken TypeError", "the problem");
});

check("on a server nothing is opened, fetched or decided", async () => {
  server.paths();
  assert.equal(renderToString(createElement(Checkout)), "TEN: undecided unopened ");
  await sleep(50);
  assert.deepEqual(server.paths(), []);
});

check("the README's example shows the total", async () => {
  const readme = await readFile(new URL("../../pkg-template/README.md", import.meta.url), "utf8");
  const [, example] = /```jsx\n([^`]*?)```/.exec(readme);
  const { code } = await transform(example, { loader: "jsx", jsx: "automatic", format: "esm" });
  const at = (name) => JSON.stringify(import.meta.resolve(name));
  const absolute = code.replace('"@scrip-edge/page/react"', at("../../pkg/react.js")).replace('"react/jsx-runtime"', at("react/jsx-runtime"));
  const { Total } = await import(`data:text/javascript,${encodeURIComponent(absolute)}`);
  const { fetch } = globalThis;
  globalThis.fetch = (url, init) => fetch(String(url).replace("https://promotions.example", server.base), init);
  try {
    root.render(createElement(Total, { cart: cartOf("TEN") }));
    await until(() => text() === "900", "the total");
    assert.equal(document.querySelector("p").title, "fresh");
  } finally {
    root.unmount();
    root = createRoot(document.querySelector("main"));
    globalThis.fetch = fetch;
  }
});

check("CommonJS has the same hooks, over the same React", () => {
  const { useShop, useVerdict } = createRequire(import.meta.url)("../../pkg/react.cjs");
  assert.deepEqual([typeof useShop, typeof useVerdict], ["function", "function"]);
});
