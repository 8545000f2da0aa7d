// Stands in front of the built Worker, whose modules stay as they are: moves its clock, counts the statements of a project, stops the
// process at one of them, and reads the step of the schema without a call of the Worker.
import settings from "./settings.json";
import { ofMachine } from "./shifted_clock.mjs";
import * as built from "./index.mjs";

let statements = 0;
/** The databases of projects. */
const counted = new Set();

/** Changes the calls of all storages, which share their prototypes. */
let watch = ({ storage }) => {
  watch = () => {};
  const ofSql = Object.getPrototypeOf(storage.sql);
  const { exec } = ofSql;
  ofSql.exec = function (...call) {
    if (!counted.has(this)) return exec.apply(this, call);
    statements += 1;
    if (statements === settings.stopAt) {
      console.log("stopped at a statement");
      for (;;);
    }
    return exec.apply(this, call);
  };
  const ofStorage = Object.getPrototypeOf(storage);
  const { setAlarm } = ofStorage;
  ofStorage.setAlarm = function (moment, ...options) {
    return setAlarm.call(this, ofMachine(moment), ...options);
  };
};

export class Project extends built.Project {
  constructor(ctx, env) {
    super(ctx, env);
    watch(ctx);
    counted.add(ctx.storage.sql);
  }

  /** An alarm that is overdue at the start would migrate the project before its first call. */
  alarm(...details) {
    return settings.holdsAlarms ? new Promise(() => {}) : super.alarm(...details);
  }

  /**
   * Returns the step of the schema, the number of statements so far, and the ledger: its transfers, the amount and the ids of them, and how
   * many are still in the table of an earlier version (null: that table is gone).
   */
  state() {
    const one = (statement) => {
      // Statements of this function do not count.
      statements -= 1;
      return this.ctx.storage.sql.exec(statement).one();
    };
    const { version } = one("SELECT MAX(version) AS version FROM migration");
    const counted = statements;
    const has = (name) => one(`SELECT COUNT(*) AS count FROM sqlite_master WHERE name = '${name}'`).count === 1;
    const all = has("every_transfer") ? "every_transfer" : "transfer";
    const ledger = one(`SELECT COUNT(*) AS transfers, COUNT(DISTINCT id) AS ids, SUM(amount) AS amount FROM ${all}`);
    const former = has("former_transfer") ? one("SELECT COUNT(*) AS count FROM former_transfer").count : null;
    return { version, statements: counted, ledger, former };
  }
}

export class Directory extends built.Directory {
  constructor(ctx, env) {
    super(ctx, env);
    watch(ctx);
  }
}

export * from "./index.mjs";

export default {
  ...built.default,
  async fetch(request, env, ctx) {
    if (new URL(request.url).pathname !== "/state") return built.default.fetch(request, env, ctx);
    return Response.json(await env.PROJECT.get(env.PROJECT.idFromName("proj_dev")).state());
  },
};
