// Starts a workerd process, passes its output on, and ends it with this process.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { LineFilter } from "./lines.mjs";
import { root } from "./console.mjs";

/** Starts workerd with `variables` in its environment; its `ended` resolves to how it ended. `onLine` receives its lines. */
export function launch({ flags, config, variables, onLine }) {
  const env = { ...process.env, ...variables };
  // A session of its own: Ctrl-C is for the supervisor, which ends workerd in its own way.
  const child = spawn(workerdPath(), ["serve", ...flags, config], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const lines = new LineFilter(onLine);
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", (line) => lines.take(line));
  child.ended = new Promise((done) => {
    child.once("error", (error) => done(error.message));
    child.once("exit", (code, signal) => done(signal ?? `status ${code}`));
  });
  child.ended.then(guard(child.pid));
  child.ended.then(() => lines.end());
  return child;
}

/**
 * Ends workerd when this process ends, even by kill -9. A shell waits at the other end of a pipe, which the system closes with us. Returns
 * the function that dismisses the shell. Where there is no shell, the next start finds the remaining workerd by the lock.
 */
function guard(pid) {
  const shell = spawn("sh", ["-c", 'read -r word || kill -9 "$1"', "scrip-guard", String(pid)], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.once("error", () => {});
  shell.stdin.once("error", () => {});
  shell.unref();
  shell.stdin.unref();
  return () => shell.stdin.end("over\n");
}

/** Returns the path of workerd itself; its npm package has a JavaScript launcher, which signals do not pass. */
function workerdPath() {
  return createRequire(join(root, "package.json"))("workerd").default;
}
