// Installs the packed tarball into a tiny project of some host, and checks the answers of the host.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { claimsOf, jws, keyPair, rules } from "./bundle_server.mjs";

export const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
export const pkg = join(here, "../../pkg");
export const answerFile = join(here, "answer.json");

/** Packs the package into a folder. Returns npm's report of it, and a function that makes a project next to it, from one of the projects in `from`. */
export async function pack(folder, from = here) {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: pkg });
  // One npm answers with a list, another with an object by name.
  const [packed] = Object.values(JSON.parse(stdout));
  return { packed, project: (name) => project({ folder, from, tarball: join(folder, packed.filename) }, name) };
}

/** Makes a tiny project with the tarball installed, without any network. */
async function project({ folder, from, tarball }, name) {
  const place = join(folder, name);
  await cp(join(from, name), place, { recursive: true });
  await cp(join(here, "scenario.mjs"), join(place, "scenario.mjs"));
  const basket = JSON.parse(readFileSync(join(here, "basket.json"), "utf8"));
  await writeFile(join(place, "basket.json"), JSON.stringify({ ...basket, service: signedRules() }));
  const manifest = { name: `try-${name}`, private: true, dependencies: { "@scrip-edge/page": `file:${tarball}` } };
  await writeFile(join(place, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: place });
  return place;
}

/** Returns rules with one code as a service signs them now. */
function signedRules() {
  const pair = keyPair();
  const voucher = { id: "v_TEN", code: "TEN", type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 }, active: true };
  const core = rules({ vouchers: [voucher] });
  return { head: jws(pair, claimsOf(core)), core, keys: [pair.jwk], code: "TEN" };
}

/** Checks that every entry gave the bytes of the answer file, and that every mistake was named. */
export function right(result) {
  const expected = readFileSync(answerFile, "utf8").trimEnd();
  assert.equal(JSON.parse(expected).valid, true, "the answer file holds a verdict that grants a discount");
  for (const [entry, answer] of Object.entries(result.answers)) same(answer, expected, entry);
  assert.match(result.hash, /^[0-9a-f]{64}$/);
  assert.equal(result.two_seeds_differ, true);
  assert.deepEqual(result.opened, { kind: "provisional", likely: "unknown", missing: ["voucher/A", "bundle"], state: "offline" });
  assert.deepEqual(result.shop, { kind: "final", valid: true, total: 900, unknown: "provisional", state: "fresh" });
  const { bad_rules, ...others } = result.mistakes;
  assert.match(bad_rules, /^Error: .{10,}/);
  assert.deepEqual(others, {
    wrong_rules: "Error: rules.vouchers: must be an array (actual value is `5`) "
      + JSON.stringify({ path: "vouchers", text: "must be an array (actual value is `5`)" }),
    no_rules: "Error: rules must be JSON text, its UTF-8 bytes or a plain object",
    object_as_text: "Error: `validate` takes JSON text; `validateObject` takes an object",
    text_as_bytes: "Error: `validateBytes` takes a Uint8Array of JSON in UTF-8",
    bad_now: "Error: now `yesterday` must be a Date, whole milliseconds since 1970, or ISO 8601 text with its zone",
    now_without_zone: "Error: now `2026-03-01T12:00:00` must be a Date, whole milliseconds since 1970, or ISO 8601 text with its zone",
    bad_seed: "Error: seed `xyz` must be 2 to 64 hex digits, two for a byte",
    circular: "Error: the request must be an object that can be written as JSON",
    freed_validate: "Error: these rules were freed: `prepare` them again",
    freed_object: "Error: these rules were freed: `prepare` them again",
    freed_hash: "Error: these rules were freed: `prepare` them again",
  });
}

/** Compares two texts; reports where they differ, because two full answers would not be readable. */
function same(answer, expected, entry) {
  if (answer === expected) return;
  let at = 0;
  while (at < expected.length && answer[at] === expected[at]) at += 1;
  const around = (text) => text.slice(Math.max(0, at - 30), at + 40);
  assert.fail(`${entry}, from ${at}: \`${around(answer)}\` instead of \`${around(expected)}\``);
}

/** Opens a page and waits for the promise in `window.result`, and until a condition of the page is true. */
export async function visit(browser, url, isReady = () => true) {
  const page = await browser.context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  try {
    await page.goto(url);
    await page.waitForFunction(() => window.result !== undefined, undefined, { timeout: 120_000 });
    await page.waitForFunction(isReady, undefined, { timeout: 120_000 });
    return await page.evaluate(() => window.result);
  } catch (error) {
    throw new Error([error.message, ...complaints].join("\n"));
  } finally {
    await page.close();
  }
}
