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

  /** Returns the step of the schema and the number of statements so far. */
  state() {
    const { version } = this.ctx.storage.sql.exec("SELECT MAX(version) AS version FROM migration").one();
    // Its own one does not count.
    statements -= 1;
    return { version, statements };
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
