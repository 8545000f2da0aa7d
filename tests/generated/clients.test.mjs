// Tests that clients can be generated from the description. Two public generators, one of TypeScript and one of Python, make a client of
// /openapi.json with no warning. It compiles completely, and runs a shop's flow against the real service.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before } from "node:test";
import { promisify } from "node:util";
import { canRun, root } from "../../worker/tools/console.mjs";
import { credentials } from "../../worker/tools/setup.mjs";
import { boot } from "../workerd/harness.mjs";
import { countTests } from "../workerd/test_report.mjs";

const check = countTests("generated clients");
const run = promisify(execFile);
const here = join(root, "tests/generated");
const out = join(root, "target/generated");
const description = join(out, "openapi.json");
const PYTHON = process.env.SCRIP_PYTHON ?? "python3";
// Continuous integration has it; without it the test is skipped with a reason.
const hasNoPython = process.env.CI === "true" || (await canRun(PYTHON, ["-m", "venv", "--help"])) ? undefined : `no \`${PYTHON}\` with venv (or name yours in SCRIP_PYTHON)`;
let service;
let operations;

before(async () => {
  service = await boot({ testHooks: false });
  mkdirSync(out, { recursive: true });
  const text = await (await fetch(`${service.url}/openapi.json`)).text();
  writeFileSync(description, text);
  operations = Object.values(JSON.parse(text).paths).reduce((sum, path) => sum + Object.keys(path).length, 0);
});
after(() => service?.stop());

/** Runs a program to its end; its output is the message of the failure. */
async function ran(program, args, cwd = root) {
  try {
    return await run(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    assert.fail(`${program} ${args.join(" ")}\n${error.stdout}\n${error.stderr}`);
  }
}

const programArguments = () => [service.url, credentials.server.id, credentials.server.token];

check("a TypeScript client compiles under `strict` and works", async () => {
  const client = join(out, "typescript");
  rmSync(client, { recursive: true, force: true });
  const { createClient } = await import("@hey-api/openapi-ts");
  await createClient({ input: description, output: client, logs: { level: "silent", file: false } });
  const sdk = await readFile(join(client, "sdk.gen.ts"), "utf8");
  assert.equal(sdk.match(/^export const \w+ = </gm).length, operations, "a function for each operation");

  const options = {
    strict: true, noEmit: true, noUncheckedIndexedAccess: true, target: "es2022", module: "esnext", moduleResolution: "bundler",
    lib: ["es2022", "dom", "dom.iterable"], types: [],
    paths: { "scrip-client": [join(client, "index.ts")], "scrip-client/client": [join(client, "client/index.ts")] },
  };
  const project = join(out, "tsconfig.json");
  writeFileSync(project, JSON.stringify({ compilerOptions: options, include: [join(here, "smoke.ts"), client] }));
  await ran(process.execPath, [createRequire(import.meta.url).resolve("typescript/bin/tsc"), "-p", project]);

  const esbuild = await import("esbuild");
  const program = join(out, "smoke.mjs");
  await esbuild.build({
    entryPoints: [join(here, "smoke.ts")], outfile: program, bundle: true, format: "esm", platform: "node", target: "node20",
    alias: { "scrip-client": join(client, "index.ts"), "scrip-client/client": join(client, "client/index.ts") },
  });
  const { stdout } = await ran(process.execPath, [program, ...programArguments()]);
  assert.match(stdout, /the TypeScript client works/);
}, { timeout: 300_000 });

check("a Python client compiles and works", async () => {
  const venv = join(out, "venv");
  const python = join(venv, "bin/python");
  const required = await readFile(join(here, "requirements.txt"), "utf8");
  const stamp = join(venv, "wanted.txt");
  if (!existsSync(stamp) || (await readFile(stamp, "utf8")) !== required) {
    rmSync(venv, { recursive: true, force: true });
    await ran(PYTHON, ["-m", "venv", venv]);
    await ran(python, ["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", join(here, "requirements.txt")]);
    writeFileSync(stamp, required);
  }
  const client = join(out, "python");
  rmSync(client, { recursive: true, force: true });
  const { stdout: output, stderr } = await ran(python, [
    "-m", "openapi_python_client", "generate", "--path", description, "--output-path", client, "--config", join(here, "python.yml"),
  ]);
  assert.doesNotMatch(output + stderr, /warning|skipping|error/i, output + stderr);
  await ran(python, ["-m", "compileall", "-q", client]);
  const modules = await functionsOf(join(client, "scrip_client/api"));
  assert.equal(modules.length, operations, "a module for each operation");
  const every = "import importlib, sys\nfor name in sys.stdin.read().split(): importlib.import_module(name)";
  await imported(python, every, modules, client);
  const { stdout } = await run(python, [join(here, "smoke.py"), ...programArguments()], { env: { ...process.env, PYTHONPATH: client } })
    .catch((error) => assert.fail(`${error.stdout}\n${error.stderr}`));
  assert.match(stdout, /the Python client works/);
}, { skip: hasNoPython, timeout: 400_000 });

/** Returns the modules that contain one operation each, as Python names them. */
async function functionsOf(folder) {
  const modules = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    for (const file of await readdir(join(folder, entry.name))) {
      if (file.endsWith(".py") && file !== "__init__.py") modules.push(`scrip_client.api.${entry.name}.${file.slice(0, -3)}`);
    }
  }
  return modules;
}

/** Imports every module, so that a missing name is found. */
async function imported(python, program, modules, path) {
  const child = run(python, ["-c", program], { env: { ...process.env, PYTHONPATH: path }, maxBuffer: 16 * 1024 * 1024 });
  child.child.stdin.end(modules.join("\n"));
  await child.catch((error) => assert.fail(error.stderr));
}
