// Compares the packed package with the native engine, byte for byte, on the cases that the property tests wrote.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { spawnSync } from "node:child_process";
import { appendReport } from "../support/vectors.mjs";

const folder = new URL("../../pkg/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", folder)));
const scrip = await import(new URL(manifest.exports["."].node.import, folder));
await scrip.load();

const written = fileURLToPath(new URL("../../target/differential.jsonl", import.meta.url));
const context = { now: "2026-03-01T12:00:00.000Z", seed: `07${"0".repeat(62)}` };

test("the wasm gives the native engine's bytes on every generated case", async () => {
  if (!writtenNow()) {
    const made = spawnSync("cargo", ["test", "-p", "scrip", "--test", "properties", "ten_thousand_cases"], { encoding: "utf8", cwd: fileURLToPath(new URL("../../", import.meta.url)) });
    assert.equal(made.status, 0, made.stderr);
  }
  let ran = 0;
  for await (const line of createInterface({ input: createReadStream(written) })) {
    const { number, verb, given, request, answer } = JSON.parse(line);
    const found = decide(verb, given, JSON.stringify(request));
    if (answer.problem !== undefined) assert.equal(found.problem, answer.problem, `case ${number}`);
    else assert.equal(sha256(found.text), answer.sha256, `case ${number}: ${JSON.stringify({ verb, given, request })}\nthe wasm says ${found.text ?? found.problem}`);
    ran += 1;
  }
  assert.equal(ran, 10_000);
  appendReport({ kind: "generated cases", subject: "wasm", ran });
});

/** Returns whether this run of the tests has written the cases; those of an older engine would differ. */
function writtenNow() {
  const ran = process.env.SCRIP_TEST_REPORT;
  return existsSync(written) && ran !== undefined && existsSync(ran) && readFileSync(ran, "utf8").includes('"generated cases"');
}

function decide(verb, given, request) {
  let prepared;
  try {
    prepared = scrip.prepare(given);
  } catch (error) {
    return { problem: error.message };
  }
  const text = verb === "qualify" ? prepared.qualify(request, context) : prepared.validate(request, context);
  prepared.free();
  return { text };
}

function sha256(text) {
  return createHash("sha256").update(text ?? "").digest("hex");
}
