// Locks a data folder for one service at a time, and cleans up after a service that was killed. Two services on one folder would each keep
// their own counts in memory.
//
// The lock is a file that identifies its owner. A process is identified by its number and its start time, because numbers are reused. So
// the file of a killed service does not lock the folder for ever. A process in another container or on another machine counts as running as
// long as it touches the file.
import { mkdirSync, readFileSync, readlinkSync, rmdirSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { print, Remedy } from "./console.mjs";

const UNSEEN_MS = 15_000;
const HALF_WRITTEN_MS = 2_000;
const KILLED_MS = 5_000;

/** Locks a data folder, or throws with the owner of the lock. Returns `{ note(workerd), touch(), release() }`. */
export async function lockFolder(folder, port) {
  const path = join(folder, "service.json");
  const holder = { ...identity(process.pid), place: pidScope(), port };
  const write = (flag) => writeFileSync(path, `${JSON.stringify(holder)}\n`, { flag });
  try {
    mkdirSync(folder, { recursive: true });
    while (!tryCreate(() => write("wx"))) await clearStale(path, folder);
  } catch (error) {
    if (error instanceof Remedy) throw error;
    throw new Remedy(`the data folder ${folder} cannot be written (${error.code ?? error.message}): see its owner, its mode and the free space, or choose another one with SCRIP_DATA=...`);
  }
  const isOurs = () => isSame(read(path)?.holder, holder);
  return {
    /** Records the serving workerd, so that a later start finds it if this process dies. */
    note(pid) {
      holder.workerd = identity(pid);
      if (isOurs()) attempt(() => write("w"));
    },
    touch() {
      const now = new Date();
      attempt(() => utimesSync(path, now, now));
    },
    release() {
      if (isOurs()) attempt(() => unlinkSync(path));
    },
  };
}

/** Removes the lock of a service that has ended, and ends the workerd that it left. Only one process at a time does so. */
async function clearStale(path, folder) {
  const takeover = `${path}.taking`;
  if (!tryCreate(() => mkdirSync(takeover))) {
    await sleep(100);
    // A process that was killed during the takeover left this; no takeover lasts as long.
    if (Date.now() - (attempt(() => statSync(takeover).mtimeMs) ?? Date.now()) > HALF_WRITTEN_MS) attempt(() => rmdirSync(takeover));
    return;
  }
  try {
    const found = read(path);
    if (found === undefined) return;
    if (found.holder === undefined && Date.now() - found.touched < HALF_WRITTEN_MS) return void (await sleep(100));
    if (isRunning(found)) throw inUseError(folder, found.holder);
    await endWorkerd(found.holder);
    unlinkSync(path);
  } finally {
    attempt(() => rmdirSync(takeover));
  }
}

function inUseError(folder, { pid, port, place: scope }) {
  const where = scope === pidScope() ? "" : ` in another container or on another machine (${scope})`;
  return new Remedy(`the data folder ${folder} is in use by the service with pid ${pid}${where} on port ${port}: end that one, or choose another folder with SCRIP_DATA=...`);
}

/** Ends a workerd without a supervisor: no acknowledged write is lost by it. */
async function endWorkerd(holder) {
  if (holder?.place !== pidScope()) return;
  print(`the service with pid ${holder.pid} was killed and left its lock; taking over`);
  const { workerd } = holder;
  if (!isAlive(workerd)) return;
  print(`its workerd with pid ${workerd.pid} is still there, without a supervisor; killing it`);
  process.kill(workerd.pid, "SIGKILL");
  for (const latest = Date.now() + KILLED_MS; isAlive(workerd); ) {
    if (Date.now() > latest) throw new Remedy(`workerd with pid ${workerd.pid} was left by a service that was killed, and does not end: kill it by hand`);
    await sleep(20);
  }
}

function isRunning({ holder, touched }) {
  if (holder === undefined) return false;
  return holder.place === pidScope() ? isAlive(holder) : Date.now() - touched < UNSEEN_MS;
}

function isAlive(known) {
  return known?.born !== undefined && startTimeOf(known.pid) === known.born;
}

function identity(pid) {
  return { pid, born: startTimeOf(pid) };
}

/** Returns the start time of a running process, in the notation of its system. */
function startTimeOf(pid) {
  if (process.platform !== "linux") {
    const { status, stdout } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  }
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name of the program, in parentheses, may contain spaces.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields === undefined || fields[0] === "Z" ? undefined : fields[19];
}

/** Returns the scope in which process numbers are unique. */
function pidScope() {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()) ?? "";
  const numbers = attempt(() => readlinkSync("/proc/self/ns/pid")) ?? "";
  return [hostname(), boot, numbers].filter(Boolean).join(" ");
}

/** Returns the owner of the lock and when the file was touched last; without an owner when it is only half written. */
function read(path) {
  const touched = attempt(() => statSync(path).mtimeMs);
  if (touched === undefined) return undefined;
  return { touched, holder: attempt(() => JSON.parse(readFileSync(path, "utf8"))) };
}

function isSame(one, other) {
  return one?.pid === other.pid && one?.born === other.born && one?.place === other.place;
}

/** Returns whether a new file or folder was created; false when it existed. */
function tryCreate(make) {
  try {
    make();
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function attempt(act) {
  try {
    return act();
  } catch {
    return undefined;
  }
}
