// Stands in front of the built Worker, whose modules stay as they are, and counts what its objects do: statements, rows read and written as
// the runtime counts them, alarms, and calls over the border of wasm. `GET /counts` answers the counts since the last one.
import { border } from "./wasm_calls.mjs";
import * as built from "./index.mjs";

/** Each statement with its cursor, which counts rows as long as it is read. */
let executed = [];
let alarms = 0;
/** The alarms that run at present, and the moment of the next by storage. */
let running = 0;
const next = new Map();

/** Counts the calls of all storages, which share their prototypes. */
let watch = ({ storage }) => {
  watch = () => {};
  const ofSql = Object.getPrototypeOf(storage.sql);
  const { exec } = ofSql;
  ofSql.exec = function (statement, ...values) {
    const cursor = exec.call(this, statement, ...values);
    executed.push({ statement, cursor });
    return cursor;
  };
  const ofStorage = Object.getPrototypeOf(storage);
  const { setAlarm, deleteAlarm } = ofStorage;
  ofStorage.setAlarm = function (moment, ...options) {
    alarms += 1;
    next.set(this, Number(moment));
    return setAlarm.call(this, moment, ...options);
  };
  ofStorage.deleteAlarm = function (...options) {
    next.delete(this);
    return deleteAlarm.call(this, ...options);
  };
};

const counted = (Class) => class extends Class {
  constructor(ctx, env) {
    watch(ctx);
    super(ctx, env);
  }
};

const withAlarm = (Class) => class extends counted(Class) {
  async alarm(...details) {
    next.delete(this.ctx.storage);
    running += 1;
    try {
      return await super.alarm(...details);
    } finally {
      running -= 1;
    }
  }
};

export const Project = withAlarm(built.Project);
export const Directory = withAlarm(built.Directory);
export * from "./index.mjs";

/** Returns the counts and resets them. Rows are also counted by statement, without the spaces of its layout. */
function take() {
  const counts = { statements: executed.length, read: 0, written: 0, alarms, calls: border.calls, by_statement: {} };
  for (const { statement, cursor: { rowsRead, rowsWritten } } of executed) {
    counts.read += rowsRead;
    counts.written += rowsWritten;
    const sum = (counts.by_statement[statement.replaceAll(/\s+/g, " ")] ??= { statements: 0, read: 0, written: 0 });
    sum.statements += 1;
    sum.read += rowsRead;
    sum.written += rowsWritten;
  }
  [executed, alarms, border.calls] = [[], 0, 0];
  return counts;
}

export default {
  ...built.default,
  fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    // The clock stands still within an event, and at zero outside of one.
    if (pathname === "/counts/waiting") return Response.json({ running, next: Math.min(...next.values(), Number.MAX_SAFE_INTEGER) - Date.now() });
    return pathname === "/counts" ? Response.json(take()) : built.default.fetch(request, env, ctx);
  },
};
