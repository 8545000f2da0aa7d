// Decides how one workerd process is started, heard, and never left alone. It must not know what it serves or how long it should.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "./say.mjs";

/** Starts workerd with more in its environment; its `gone` becomes how it ended, in a word. `hear` is given its lines. */
export function launch({ flags, config, more, hear }) {
  const env = { ...process.env, ...more };
  // A session of its own: Ctrl-C is for the watcher, which ends workerd in its own way.
  const child = spawn(workerdPath(), ["serve", ...flags, config], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      // workerd writes addresses of its own code below every error; they tell nobody anything.
      if (!line.startsWith("stack: ")) hear(line);
    });
  }
  child.gone = new Promise((done) => {
    child.once("error", (error) => done(error.message));
    child.once("exit", (code, signal) => done(signal ?? `status ${code}`));
  });
  child.gone.then(guard(child.pid));
  return child;
}

/**
 * Ends workerd when this process ends, even by kill -9: a shell waits at the other end of a pipe, which the system closes with us.
 * Gives what sends it away. Where there is no shell, the next start finds what was left by the lock.
 */
function guard(pid) {
  const shell = spawn("sh", ["-c", 'read -r word || kill -9 "$1"', "scrip-guard", String(pid)], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.once("error", () => {});
  shell.stdin.once("error", () => {});
  shell.unref();
  shell.stdin.unref();
  return () => shell.stdin.end("over\n");
}

/** workerd itself; its npm package puts a JavaScript launcher in front, which signals do not pass. */
function workerdPath() {
  return createRequire(join(root, "package.json"))("workerd").default;
}
