// Decides how a Durable Object commits: one synchronous call of the engine inside one transaction, and what becomes of
// a failure. It must not know any route, document or rule: those are Rust's. Nothing in `serve` awaits, so no other
// event can come between the first read and the commit.
//
// Why the engine is a second instance of the same module: between two calls nothing is ever in flight in it, so that
// an instance which trapped is thrown away without any request of another caller being lost. The entry, where requests
// wait for their objects, keeps its own instance.
import { DurableObject } from "cloudflare:workers";
import module from "./index_bg.wasm";
import * as engine from "glue/engine";
import { Courier } from "./courier.mjs";
import { Figures } from "./figures.mjs";
import { log, told } from "./log.mjs";
import { Pace } from "./pace.mjs";

engine.initSync({ module });

const EMPTY = new Uint8Array(0);
// After a failed alarm: the first wait, and the longest.
const RETRY_MS = 2_000;
const RETRY_MOST_MS = 300_000;
// How long an alarm that waits for letters rests before it looks for work again, at most.
const REST_MOST_MS = 1_000;
// What alone is kept of a project that was deleted.
const GONE = "gone";
// How many requests the objects of this isolate have served: they share one thread.
let served = 0;

class ScripObject extends DurableObject {
  /** Whether the store has not been opened yet in this life of the object. */
  #fresh = true;
  #alarmAt = undefined;
  #failedAlarms = 0;
  #figures = new Figures();
  #pace = new Pace({
    piece: (rows) => this.#piece(rows),
    served: () => served,
    now: () => Date.now(),
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    alone: (work) => this.#alone(work),
  });
  #failedRounds = 0;
  #courier = new Courier({
    round: (carried) => this.#round(carried),
    fetch: (url, init) => fetch(url, init),
    served: () => served,
    now: () => Date.now(),
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  });
  /** Ends the rest of an alarm that waits for letters. */
  #stir = () => {};

  /** Answers one request: `[status, header lines, bytes]`. The entry is the only caller. */
  serve(method, target, lines, body) {
    served += 1;
    try {
      const begun = Date.now();
      const [status, headers, bytes, work, letters, verdicts] = this.#commit((sql) =>
        engine.serveObject(this.setup(), this.#fresh, method, target, lines, body ?? EMPTY, sql));
      this.#arm(work);
      if (work !== null && work <= Date.now()) this.#stir();
      this.#lettersWait(letters);
      this.#count(begun, method !== "GET", verdicts);
      return [status, headers, bytes];
    } catch (error) {
      const requestId = requestIdIn(lines);
      this.#figures.failures += 1;
      this.#failed("request_failed", error, { request_id: requestId, route: () => engine.routeOf(method, target), status: 500 });
      return engine.failedReply(requestId);
    }
  }

  /** What the object counted, and how much waits in it, as JSON. The entry asks when whoever runs the service does. */
  figures() {
    try {
      const waiting = this.#commit((sql) => engine.waitingIn(this.#fresh, sql));
      return JSON.stringify({ waiting: JSON.parse(waiting), ...this.#figures.told() });
    } catch (error) {
      this.#failed("figures_failed", error);
      throw error;
    }
  }

  /** Counts an event that was committed; of some that wrote, how long the disk takes, which nobody waits for here. */
  #count(begun, writes, verdicts) {
    const decided = Date.now();
    this.#figures.decided(decided - begun, verdicts);
    if (!writes || !this.#figures.timesCommit()) return;
    // That a commit fails is told where the request is answered.
    this.ctx.storage.sync().then(() => this.#figures.committed(Date.now() - decided), () => {});
  }

  /**
   * Runs what is due for a while, carries letters beside it, and asks for a new alarm. The alarm that runs is only gone when this returns,
   * so that whoever dies in between is woken again. While a letter is on its way, long work goes on whenever some is due.
   */
  async alarm() {
    this.#alarmAt = undefined;
    let carrying = true;
    const carried = this.#carry().finally(() => {
      carrying = false;
      this.#stir();
    });
    do {
      const next = await this.#work();
      if (carrying) await this.#rest(next);
    } while (carrying);
    this.#arm(await carried);
  }

  /** Runs what is due for a while; gives when more is. A failure is noted in a transaction of its own, and tried again later, but never given up here. */
  async #work() {
    let next;
    try {
      next = await this.#pace.spell();
      this.#failedAlarms = 0;
    } catch (error) {
      this.#figures.failedAlarms += 1;
      this.#failed("alarm_failed", error);
      next = this.#noteFailedAlarm(error);
    }
    this.#arm(next);
    return next;
  }

  /** Rests until work is due, something new waits or all letters have arrived. */
  #rest(next) {
    return new Promise((done) => {
      const timer = setTimeout(done, Math.min(Math.max((next ?? Infinity) - Date.now(), 1), REST_MOST_MS));
      this.#stir = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  /** Carries letters; gives when more are due. After a failure that is later and later. */
  async #carry() {
    try {
      const next = await this.#courier.spell();
      this.#failedRounds = 0;
      return next;
    } catch (error) {
      this.#failed("letters_failed", error);
      const wait = Math.min(RETRY_MS * 2 ** this.#failedRounds, RETRY_MOST_MS);
      this.#failedRounds += 1;
      return Date.now() + wait;
    }
  }

  /** Asks for the alarm of letters, and tells whoever carries some already. Nobody looks for work because of them. */
  #lettersWait(moment) {
    this.#arm(moment);
    if (moment !== null && moment <= Date.now()) this.#courier.stir();
  }

  #piece(rows) {
    const [work, letters] = this.#commit((sql) => engine.runAlarm(this.#fresh, rows, sql));
    this.#lettersWait(letters);
    return work;
  }

  #round(carried) {
    const [round, alarm] = this.#commit((sql) => engine.runLetters(this.#fresh, JSON.stringify(carried), sql));
    this.#arm(alarm);
    return JSON.parse(round);
  }

  /**
   * Does some work while no request is let in, and says how many milliseconds it took. The clock may stand still until the disk has
   * answered; a timer would not move it, as it tells the moment for which it was set. What throws behind the door would end the object.
   */
  async #alone(work) {
    let [took, failure] = [0, undefined];
    await this.ctx.blockConcurrencyWhile(async () => {
      try {
        const begun = Date.now();
        work();
        await this.ctx.storage.sync();
        took = Date.now() - begun;
      } catch (error) {
        failure = { error };
      }
    });
    if (failure) throw failure.error;
    return took;
  }

  /** When to try again: what the service says, or, when it cannot even note the failure, more and more rarely. */
  #noteFailedAlarm(error) {
    const wait = Math.min(RETRY_MS * 2 ** this.#failedAlarms, RETRY_MOST_MS);
    this.#failedAlarms += 1;
    try {
      return this.#commit((sql) => engine.noteFailedAlarm(this.#fresh, String(error), sql)) ?? Date.now() + wait;
    } catch (worse) {
      this.#failed("alarm_not_noted", worse);
      return Date.now() + wait;
    }
  }

  /** One call inside one transaction: whatever it throws undoes whatever it wrote. */
  #commit(call) {
    const { storage } = this.ctx;
    const answer = storage.transactionSync(() => call(storage.sql));
    this.#fresh = false;
    return answer;
  }

  /**
   * Sets the alarm in the same turn as the commit, so that both are durable or neither. An earlier one stays: while work rests between
   * two pieces, a request may have asked for an alarm that the last piece knew nothing of.
   */
  #arm(moment) {
    if (moment === null || this.#alarmAt <= moment) return;
    this.#alarmAt = moment;
    this.ctx.storage.setAlarm(moment);
  }

  /** Takes everything that is stored, and what was to be done with it: the next request finds an object that begins. */
  async clear() {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    this.#fresh = true;
    this.#alarmAt = undefined;
  }

  #failed(event, error, known) {
    failed(this.ctx, event, error, known);
  }
}

const requestIdIn = (lines) => /(?:^|\n)scrip-request-id\n(.*)\n/.exec(lines)?.[1] ?? "v-unknown";

/**
 * Makes the engine usable again and writes a failure down, with its `route` as the engine knows it; when even that fails, the object
 * starts anew.
 */
function failed(ctx, event, error, { route, ...known } = {}) {
  const failure = { object: ctx.id.name, ...known };
  let lost;
  try {
    engine.ready();
    failure.route = route?.();
  } catch (worse) {
    lost = worse;
  }
  log(event, { ...failure, error: told(error) });
  if (lost === undefined) return;
  log("engine_lost", { object: ctx.id.name, error: told(lost) });
  ctx.abort(String(lost));
}

/** Counts what the pages of one project guess, beside the project and in memory alone. The entry is the only caller. */
export class Gate extends DurableObject {
  ask(project, key, address, lines) {
    return this.#try(() => engine.askGate(project, key, address, lines));
  }

  settle(project, key, address, wrong, lines) {
    this.#try(() => engine.settleGate(project, key, address, wrong, lines));
  }

  #try(call) {
    try {
      return call();
    } catch (error) {
      failed(this.ctx, "gate_failed", error);
      throw error;
    }
  }
}

/** Everything of one project that must be true now. */
export class Project extends ScripObject {
  /** Whether the project was deleted. Its id never comes again: who is still believed for a while finds nothing to write in. */
  #gone;

  constructor(ctx, env) {
    super(ctx, env);
    this.#gone = ctx.storage.kv.get(GONE) === true;
  }

  setup() {
    return undefined;
  }

  serve(method, target, lines, body) {
    return this.#gone ? engine.goneReply(requestIdIn(lines)) : super.serve(method, target, lines, body);
  }

  /** The project is gone. The entry is the only caller. */
  async empty() {
    this.#gone = true;
    await this.clear();
    this.ctx.storage.kv.put(GONE, true);
  }
}

/** Projects and keys; one object for the whole Worker. */
export class Directory extends ScripObject {
  setup() {
    return this.env.SCRIP_SETUP ?? "";
  }
}
