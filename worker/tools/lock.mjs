// Decides that one service at a time has a data folder, and what is left of one that was killed. Two of them on one folder would
// each keep its own counts in memory. It must not know how a service is started.
//
// The lock is a file that says who has it. A process is known by its number and the moment it was born, since numbers come
// again; so that a file which a killed service left locks nobody out. A process that cannot be seen from here, in another
// container or on another machine, counts as living as long as it touches the file.
import { mkdirSync, readFileSync, readlinkSync, rmdirSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { Remedy, say } from "./say.mjs";

const UNSEEN_MS = 15_000;
const HALF_WRITTEN_MS = 2_000;
const KILLED_MS = 5_000;

/** Takes a data folder, or says who has it. Gives `{ note(workerd), touch(), release() }`. */
export async function lockFolder(folder, port) {
  const path = join(folder, "service.json");
  const holder = { ...identity(process.pid), place: place(), port };
  const write = (flag) => writeFileSync(path, `${JSON.stringify(holder)}\n`, { flag });
  try {
    mkdirSync(folder, { recursive: true });
    while (!created(() => write("wx"))) await clearStale(path, folder);
  } catch (error) {
    if (error instanceof Remedy) throw error;
    throw new Remedy(`the data folder ${folder} cannot be written (${error.code ?? error.message}): see its owner, its mode and the free space, or choose another one with SCRIP_DATA=...`);
  }
  const isOurs = () => same(read(path)?.holder, holder);
  return {
    /** Notes which workerd serves, so that a later start finds it should nobody be left to end it. */
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

/** Removes the lock of a service that is no more, and ends the workerd that it left. Only one process at a time does so. */
async function clearStale(path, folder) {
  const taking = `${path}.taking`;
  if (!created(() => mkdirSync(taking))) {
    await sleep(100);
    // Whoever was killed while taking over left this; nothing in between takes as long.
    if (Date.now() - (attempt(() => statSync(taking).mtimeMs) ?? Date.now()) > HALF_WRITTEN_MS) attempt(() => rmdirSync(taking));
    return;
  }
  try {
    const found = read(path);
    if (found === undefined) return;
    if (found.holder === undefined && Date.now() - found.touched < HALF_WRITTEN_MS) return void (await sleep(100));
    if (lives(found)) throw inUse(folder, found.holder);
    await endWorkerd(found.holder);
    unlinkSync(path);
  } finally {
    attempt(() => rmdirSync(taking));
  }
}

function inUse(folder, { pid, port, place: there }) {
  const where = there === place() ? "" : ` in another container or on another machine (${there})`;
  return new Remedy(`the data folder ${folder} is in use by the service with pid ${pid}${where} on port ${port}: end that one, or choose another folder with SCRIP_DATA=...`);
}

/** Ends what nobody watches any more: nothing acknowledged is lost by it. */
async function endWorkerd(holder) {
  if (holder?.place !== place()) return;
  say(`the service with pid ${holder.pid} was killed and left its lock; taking over`);
  const { workerd } = holder;
  if (!isAlive(workerd)) return;
  say(`its workerd with pid ${workerd.pid} is still there, and nobody watches it; killing it`);
  process.kill(workerd.pid, "SIGKILL");
  for (const latest = Date.now() + KILLED_MS; isAlive(workerd); ) {
    if (Date.now() > latest) throw new Remedy(`workerd with pid ${workerd.pid} was left by a service that was killed, and does not end: kill it by hand`);
    await sleep(20);
  }
}

function lives({ holder, touched }) {
  if (holder === undefined) return false;
  return holder.place === place() ? isAlive(holder) : Date.now() - touched < UNSEEN_MS;
}

function isAlive(known) {
  return known?.born !== undefined && bornOf(known.pid) === known.born;
}

function identity(pid) {
  return { pid, born: bornOf(pid) };
}

/** When a living process was born, in the words of its system. */
function bornOf(pid) {
  if (process.platform !== "linux") {
    const { status, stdout } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  }
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name of the program, in parentheses, may hold spaces.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields === undefined || fields[0] === "Z" ? undefined : fields[19];
}

/** Where process numbers mean the same. */
function place() {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()) ?? "";
  const numbers = attempt(() => readlinkSync("/proc/self/ns/pid")) ?? "";
  return [hostname(), boot, numbers].filter(Boolean).join(" ");
}

/** The holder of the lock and when the file was touched last; without a holder when it is only half written. */
function read(path) {
  const touched = attempt(() => statSync(path).mtimeMs);
  if (touched === undefined) return undefined;
  return { touched, holder: attempt(() => JSON.parse(readFileSync(path, "utf8"))) };
}

function same(one, other) {
  return one?.pid === other.pid && one?.born === other.born && one?.place === other.place;
}

/** Whether something was made that was not there. */
function created(make) {
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
