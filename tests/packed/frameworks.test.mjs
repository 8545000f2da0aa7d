// Tests that the packed tarball works in the frameworks with which shops are built and tested: Next.js on its server and in its pages, built and
// in development, Jest with jsdom, Vitest. None of them gets a setting for the package.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";
import { build } from "../../pkg-template/build.mjs";
import { launch, missing } from "../browser/chromium.mjs";
import { countTests } from "../browser/test_report.mjs";
import { pack, pkg, right, run, visit } from "../packaging/hosts.mjs";

const check = countTests("packaging");
const noBrowser = missing();
// The frameworks are found in the parent folders of a project, as in a workspace.
const target = fileURLToPath(new URL("../../target/", import.meta.url));
const require = createRequire(import.meta.url);
const env = { ...process.env, CI: "1", NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: undefined, NODE_OPTIONS: undefined, NODE_TEST_CONTEXT: undefined };

let folder;
let project;

before(async () => {
  if (!existsSync(join(pkg, "scrip.wasm"))) await build(pkg);
  await mkdir(target, { recursive: true });
  folder = await mkdtemp(join(target, "packaging-"));
  ({ project } = await pack(folder, fileURLToPath(new URL(".", import.meta.url))));
}, { timeout: 600_000 });

after(() => rm(folder, { recursive: true, force: true }));

/** Runs a program of a framework in a project. */
async function runIn(place, program, ...args) {
  try {
    await run(process.execPath, [program, ...args], { cwd: place, env });
  } catch (error) {
    throw new Error([error.message, error.stdout, error.stderr].join("\n"));
  }
}

const resultIn = (place) => JSON.parse(readFileSync(join(place, "result.json"), "utf8"));

/** Starts a Next.js project on a free port, built (`start`) or in development (`dev`); returns its address and a function that ends it. */
async function startNext(place, mode) {
  const child = spawn(process.execPath, [require.resolve("next/dist/bin/next"), mode, "-H", "127.0.0.1", "-p", "0"], { cwd: place, env });
  const ended = new Promise((done) => child.once("exit", done));
  const stop = async () => {
    child.kill();
    await ended;
  };
  let text = "";
  const url = await new Promise((found, failed) => {
    const read = (chunk) => {
      text += chunk;
      const [port] = /(?<=127\.0\.0\.1:)[1-9]\d*/.exec(text) ?? [];
      if (port) found(`http://127.0.0.1:${port}`);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => failed(new Error(`Next.js ended with ${code}: ${text}`)));
  });
  return { url, stop };
}

/** Checks a route, a server component and a client component of a Next.js project. */
async function checkNext(place, mode) {
  const next = await startNext(place, mode);
  try {
    const reply = await fetch(`${next.url}/server`);
    assert.equal(reply.status, 200);
    right(await reply.json());
    const [, rendered] = /<script type="application\/json">(.*?)<\/script>/.exec(await (await fetch(`${next.url}/component`)).text());
    right(JSON.parse(rendered));
    assert.match(await (await fetch(`${next.url}/`)).text(), /<p>unopened<!-- --> <!-- -->undecided<\/p>/, "the server's text");
    if (noBrowser) return;
    const browser = await launch();
    try {
      right(await visit(browser, `${next.url}/`, () => document.querySelector("p").textContent === "offline provisional"));
    } finally {
      await browser.close();
    }
  } finally {
    await next.stop();
  }
}

check("Next.js in development: a route, a server component and a client component", async () => {
  await checkNext(await project("next"), "dev");
});

check("Next.js, built: the same", async () => {
  const place = await project("next");
  await runIn(place, require.resolve("next/dist/bin/next"), "build");
  await checkNext(place, "start");
});

check("Jest with jsdom", async () => {
  const place = await project("jest");
  // Jest reads CommonJS.
  await esbuild.build({ entryPoints: [join(place, "scenario.mjs")], outfile: join(place, "scenario.cjs"), format: "cjs", logLevel: "error" });
  await runIn(place, require.resolve("jest/bin/jest"), "--rootDir", place);
  right(resultIn(place));
});

check("Vitest", async () => {
  const place = await project("vitest");
  await runIn(place, join(require.resolve("vitest/package.json"), "../vitest.mjs"), "run");
  right(resultIn(place));
});
