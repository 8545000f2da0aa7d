// Reads what Linux counts of a process.
import { readFileSync } from "node:fs";

/** The clock of `/proc`, the same on every Linux. */
const TICKS_PER_SECOND = 100;

/** Returns the CPU time of a process in milliseconds, its own and that of the system for it; undefined on other systems. */
export function cpuMs(pid) {
  // The name of the program, in parentheses, may contain spaces.
  const fields = read(pid, "stat")?.split(") ").at(-1).split(" ");
  // They begin with the third, the state.
  return fields && ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
}

/** Returns the bytes that a process has passed to the system to write: to files and to connections. */
export function writtenBytes(pid) {
  const found = /^wchar: (\d+)$/m.exec(read(pid, "io") ?? "");
  return found ? Number(found[1]) : undefined;
}

function read(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return undefined;
  }
}
