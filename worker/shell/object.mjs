// Runs the requests of a Durable Object, each as one synchronous call of the engine inside one transaction, and handles their failures.
// Routes, documents and rules are those of the Rust code. `runRequest` contains no await, so no other event comes between the first read
// and the commit. `batch.mjs` groups the requests that share a flush.
//
// The engine is a second instance of the same module. Between two calls nothing is in flight in it, so an instance that trapped can be
// replaced and no other request is lost. The entry, where requests wait for their objects, has its own instance.
import { DurableObject } from "cloudflare:workers";
import module from "./index_bg.wasm";
import * as engine from "glue/engine";
import { AlarmClock } from "./alarm_clock.mjs";
import { BackgroundTask } from "./background_task.mjs";
import { BatchQueue } from "./batch.mjs";
import { BoxKeyDeriver } from "./box_key_deriver.mjs";
import { BundleCopier } from "./bundle_copier.mjs";
import { Dispatcher } from "./webhook_dispatcher.mjs";
import { ObjectMetrics } from "./metrics.mjs";
import { describeError, log } from "./log.mjs";
import { JobPacer } from "./job_pacer.mjs";
import { reportRevision } from "./rule_revisions.mjs";
import { after, earliest } from "./timers.mjs";

engine.initSync({ module });

const EMPTY = new Uint8Array(0);
// After a failed alarm: the first wait, and the longest.
const RETRY_MS = 2_000;
const RETRY_MAX_MS = 300_000;
// The longest rest of an alarm that waits for deliveries before it runs jobs again.
const REST_MOST_MS = 1_000;
// The only stored value of a deleted project.
const DELETED_KEY = "gone";
// The number of requests to the objects of this isolate, which share one thread.
let served = 0;

class ScripObject extends DurableObject {
  /** True until the store is opened for the first time in this life of the object. */
  #fresh = true;
  /** True if this instance has served a request: only a request has the settings of the project, which the store needs once. */
  #hasServed = false;
  #alarm = new AlarmClock({ now: () => Date.now(), setAlarm: (moment) => this.ctx.storage.setAlarm(moment), after });
  #failedAlarms = 0;
  #metrics = new ObjectMetrics();
  #requests = new BatchQueue({
    run: (request) => this.runRequest(request),
    finish: (outcomes) => this.#finishBatch(outcomes),
    abort: (error) => this.#abort("batch_failed", error),
    now: () => Date.now(),
    pause: () => scheduler.wait(0),
  });
  #pacer = new JobPacer({
    slice: (rows) => this.#runSlice(rows),
    served: () => served,
    now: () => Date.now(),
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    exclusively: (job) => this.#runExclusively(job),
  });
  #failedRounds = 0;
  #dispatcher = new Dispatcher({
    commitRound: (report) => this.#commitRound(report),
    fetch: (url, init) => fetch(url, init),
    served: () => served,
    now: () => Date.now(),
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    after,
  });
  #copier = new BundleCopier({
    commitStep: (report) => this.#commitStep((...call) => engine.copyBundle(...call, this.env.SCRIP_EDGE_SECRET ?? undefined), report),
    kv: () => this.env.KV,
    publish: (head) => this.#publish(head),
    after,
  });
  #copying = new BackgroundTask({
    run: () => this.#copier.runBurst(),
    fail: (error, wait) => {
      this.#metrics.failedBundleCopies += 1;
      this.#postpone("bundle_not_copied", error, wait);
    },
    end: () => this.#wakeUp(),
  });
  #deriver = new BoxKeyDeriver({
    commitStep: (report) => this.#commitStep(engine.deriveBoxKeys, report),
    subtle: () => crypto.subtle,
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
  });
  #deriving = new BackgroundTask({
    run: () => this.#deriver.runBurst(),
    fail: (error, wait) => this.#postpone("box_keys_not_derived", error, wait),
    end: () => this.#wakeUp(),
  });
  /** Ends the rest of an alarm that waits for deliveries, for copies or for keys. */
  #wakeUp = () => {};

  /** Answers one request after its batch has run: `[status, header lines, bytes]`. The entry is the only caller. */
  async serve(method, target, lines, body) {
    served += 1;
    const { reply } = await this.#requests.add({ method, target, lines, body: body ?? EMPTY });
    return reply;
  }

  /** Runs one request in a transaction of its own. Returns its reply and, unless it failed, the facts that its batch needs. */
  runRequest({ method, target, lines, body }) {
    const startedAt = Date.now();
    try {
      const [status, headers, bytes, work, deliveries, verdicts, undone] = this.#commit(
        (sql) => engine.serveObject(this.setup(), this.#fresh || !this.#hasServed, method, target, lines, body, sql),
        (answer) => answer.at(-1),
      );
      // A call that is undone also undoes what the store wrote about the project.
      this.#hasServed ||= !undone;
      const decided = { ms: Date.now() - startedAt, verdicts, writes: method !== "GET" };
      return { reply: [status, headers, bytes], work, deliveries, decided };
    } catch (error) {
      const requestId = requestIdIn(lines);
      this.#metrics.failures += 1;
      this.#recordFailure("request_failed", error, { request_id: requestId, route: () => engine.routeOf(method, target), status: 500 });
      return { reply: engine.failedReply(requestId) };
    }
  }

  /**
   * Sets the alarms of a batch and counts it, in the turn of its commits, so that both are durable or neither is. An alarm that is set for
   * an earlier time stays. While a job rests between two slices, a request may have set an alarm that the last slice knew nothing of.
   */
  #finishBatch(outcomes) {
    const work = earliest(outcomes.map((outcome) => outcome.work));
    this.#alarm.scheduleAt(work);
    if (work !== null && work <= Date.now()) this.#wakeUp();
    this.#scheduleDeliveries(earliest(outcomes.map((outcome) => outcome.deliveries)));
    this.#count(outcomes.flatMap(({ decided }) => decided ?? []));
  }

  /** Returns the metrics of the object and the size of its queues as JSON. The entry calls it for `/metrics`. */
  metrics() {
    try {
      const [waiting, work, deliveries] = this.#commit((sql) => engine.waitingIn(this.#fresh, sql));
      this.#alarm.scheduleAt(work);
      this.#scheduleDeliveries(deliveries);
      return JSON.stringify({ waiting: JSON.parse(waiting), ...this.#metrics.toJson() });
    } catch (error) {
      this.#recordFailure("figures_failed", error);
      throw error;
    }
  }

  /** Counts the committed requests of a batch. Of some batches that wrote, it also times the disk; no answer waits for that. */
  #count(decided) {
    for (const { ms, verdicts } of decided) this.#metrics.countDecision(ms, verdicts);
    if (!decided.some(({ writes }) => writes) || !this.#metrics.shouldTimeCommit()) return;
    const startedAt = Date.now();
    // A commit that fails ends the object and answers the requests of its batch with an error.
    this.ctx.storage.sync().then(() => this.#metrics.countCommit(Date.now() - startedAt), () => {});
  }

  /**
   * Runs due jobs for a while, sends deliveries, copies the bundle and derives keys at the same time, and sets a new alarm. The current alarm
   * is only removed when this returns, so a process that dies in between is woken again. Jobs that become due run also while a delivery, a
   * copy or a key is on its way.
   */
  async alarm() {
    this.#alarm.recordFired();
    let isDelivering = true;
    const delivering = this.#deliver().finally(() => {
      isDelivering = false;
      this.#wakeUp();
    });
    this.#copying.start();
    this.#deriving.start();
    const isBusy = () => isDelivering || this.#copying.isRunning || this.#deriving.isRunning;
    do {
      const next = await this.#runJobs();
      if (isBusy()) await this.#rest(next);
    } while (isBusy());
    this.#alarm.scheduleAt(await delivering);
  }

  /**
   * Runs due jobs for a while; returns when the next are due. A failure is noted in a transaction of its own and tried again later; it is
   * never given up here.
   */
  async #runJobs() {
    let next;
    try {
      next = await this.#pacer.runBurst();
      this.#failedAlarms = 0;
    } catch (error) {
      this.#metrics.failedAlarms += 1;
      this.#recordFailure("alarm_failed", error);
      next = this.#noteFailedAlarm(error);
    }
    this.#alarm.scheduleAt(next);
    return next;
  }

  /** Rests until a job is due, new work arrives or all deliveries have ended. */
  #rest(next) {
    return new Promise((done) => {
      const timer = setTimeout(done, Math.min(Math.max((next ?? Infinity) - Date.now(), 1), REST_MOST_MS));
      this.#wakeUp = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  /** Sends deliveries; returns when the next are due. After each failure that is later. */
  async #deliver() {
    try {
      const next = await this.#dispatcher.runBurst();
      this.#failedRounds = 0;
      return next;
    } catch (error) {
      this.#recordFailure("deliveries_failed", error);
      const wait = Math.min(RETRY_MS * 2 ** this.#failedRounds, RETRY_MAX_MS);
      this.#failedRounds += 1;
      return Date.now() + wait;
    }
  }

  /** Records a failure of work that is tried again after a wait, in milliseconds. */
  #postpone(event, error, wait) {
    this.#recordFailure(event, error);
    this.#alarm.scheduleAt(Date.now() + wait);
  }

  /** Stores what a step of copies or keys has done, which may make work due, and returns the next step. */
  #commitStep(run, report) {
    const [step, work] = this.#commit((sql) => run(this.#fresh, JSON.stringify(report), sql));
    this.#alarm.scheduleAt(work);
    if (work !== null && work <= Date.now()) this.#wakeUp();
    return JSON.parse(step);
  }

  /** Passes a new head on to the pages that are connected. Where that fails, the head is copied and passed on again later. */
  async #publish(head) {
    const { FEED } = this.env;
    await FEED?.get(FEED.idFromName(this.ctx.id.name)).publish(head);
  }

  /** Sets the alarm for deliveries, and wakes the dispatcher where it runs. Jobs do not run for them. */
  #scheduleDeliveries(moment) {
    this.#alarm.scheduleAt(moment);
    if (moment !== null && moment <= Date.now()) this.#dispatcher.wakeUp();
  }

  #runSlice(rows) {
    if (this.#alarm.isSetBack()) this.#catchUp();
    const startedAt = Date.now();
    const [work, deliveries, bundleWork] = this.#commit((sql) => engine.runAlarm(this.#fresh, rows, sql));
    if (bundleWork > 0) this.#metrics.countBundleSlice(Date.now() - startedAt, bundleWork === 2);
    if (bundleWork === 2) {
      this.#copying.start();
      this.#deriving.start();
    }
    this.#scheduleDeliveries(deliveries);
    return work;
  }

  /** Handles work that an earlier, wrong clock has delayed. Its failure does not belong to the next job. */
  #catchUp() {
    try {
      this.#scheduleDeliveries(this.#commit((sql) => engine.catchUp(this.#fresh, sql)));
      this.#alarm.recordCatchUp();
    } catch (error) {
      this.#recordFailure("catch_up_failed", error);
    }
  }

  #commitRound(report) {
    const [round, alarm] = this.#commit((sql) => engine.runDeliveries(this.#fresh, JSON.stringify(report), sql));
    this.#alarm.scheduleAt(alarm);
    return JSON.parse(round);
  }

  /**
   * Runs a function while no request is let in; returns its duration in milliseconds. The clock may not advance until the disk has
   * answered. A timer would not move it, because a timer reports the time for which it was set. An error thrown inside
   * `blockConcurrencyWhile` would end the object.
   */
  async #runExclusively(job) {
    let [took, failure] = [0, undefined];
    await this.ctx.blockConcurrencyWhile(async () => {
      try {
        const startedAt = Date.now();
        job();
        await this.ctx.storage.sync();
        took = Date.now() - startedAt;
      } catch (error) {
        failure = { error };
      }
    });
    if (failure) throw failure.error;
    return took;
  }

  /** Returns when to try again: the time of the service, or, when it cannot even note the failure, an ever longer wait. */
  #noteFailedAlarm(error) {
    const wait = Math.min(RETRY_MS * 2 ** this.#failedAlarms, RETRY_MAX_MS);
    this.#failedAlarms += 1;
    try {
      const [next, isOfBundle] = this.#commit((sql) => engine.noteFailedAlarm(this.#fresh, String(error), sql));
      if (isOfBundle) this.#metrics.failedBundleBuilds += 1;
      return next ?? Date.now() + wait;
    } catch (worse) {
      this.#recordFailure("alarm_not_noted", worse);
      return Date.now() + wait;
    }
  }

  /**
   * Runs one call inside one transaction. An error undoes all that the call wrote, and so does an answer for which `isDry` returns true.
   */
  #commit(call, isDry = () => false) {
    const { storage } = this.ctx;
    let [dry, revision] = [];
    try {
      const answer = storage.transactionSync(() => {
        const answered = call(storage.sql);
        if (isDry(answered)) {
          dry = answered;
          throw new Error("a dry run");
        }
        if (this.env.SCRIP_EDGE_SECRET) revision = engine.rulesRevision(storage.sql);
        return answered;
      });
      this.#fresh = false;
      // The entry decides by no older rules from now on, before a caller learns of the commit.
      if (revision !== undefined) reportRevision(this.ctx.id.name, revision);
      return answer;
    } catch (error) {
      if (dry === undefined) throw error;
      return dry;
    }
  }

  /** Deletes the stored data and the alarm: the next request finds a new object. */
  async clear() {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    this.#fresh = true;
    this.#hasServed = false;
    this.#alarm.clear();
  }

  #recordFailure(event, error, known) {
    recordFailure(this.ctx, event, error, known);
  }

  /** Ends this life of the object. Writes that are not flushed are lost, and every request that waits for its answer gets an error. */
  #abort(event, error) {
    log(event, { object: this.ctx.id.name, error: describeError(error) });
    this.ctx.abort(String(error));
  }
}

const requestIdIn = (lines) => /(?:^|\n)scrip-request-id\n(.*)\n/.exec(lines)?.[1] ?? "v-unknown";

/**
 * Makes the engine usable again and logs a failure, with its `route` as the engine knows it. When even that fails, the object starts again.
 */
function recordFailure(ctx, event, error, { route, ...known } = {}) {
  const failure = { object: ctx.id.name, ...known };
  let lost;
  try {
    engine.ready();
    failure.route = route?.();
  } catch (worse) {
    lost = worse;
  }
  log(event, { ...failure, error: describeError(error) });
  if (lost === undefined) return;
  log("engine_lost", { object: ctx.id.name, error: describeError(lost) });
  ctx.abort(String(lost));
}

/** Counts failed codes of the clients of one project, outside of the project and only in memory. The entry is the only caller. */
export class AttemptLimiter extends DurableObject {
  check(project, key, address, lines) {
    return this.#try(() => engine.checkAttempt(project, key, address, lines));
  }

  settle(project, key, address, wrong, lines) {
    this.#try(() => engine.recordAttempt(project, key, address, wrong, lines));
  }

  #try(call) {
    try {
      return call();
    } catch (error) {
      recordFailure(this.ctx, "gate_failed", error);
      throw error;
    }
  }
}

/** The data of one project, with the guarantees of one Durable Object. */
export class Project extends ScripObject {
  /** True if the project was deleted. Its id is never used again: a key that is still accepted for a while cannot write any more. */
  #isDeleted;

  constructor(ctx, env) {
    super(ctx, env);
    this.#isDeleted = ctx.storage.kv.get(DELETED_KEY) === true;
  }

  setup() {
    return undefined;
  }

  /** Checked when a request runs, because the project may be deleted while the request waits. */
  runRequest(request) {
    return this.#isDeleted ? { reply: engine.goneReply(requestIdIn(request.lines)) } : super.runRequest(request);
  }

  /** Deletes the project. The entry is the only caller. */
  async empty() {
    this.#isDeleted = true;
    reportRevision(this.ctx.id.name, DELETED_KEY);
    await this.clear();
    this.ctx.storage.kv.put(DELETED_KEY, true);
    await this.#removeCopies();
  }

  /** Removes the copies of the bundle. No caller can read those that stay: the entry refuses the project's keys and addresses. */
  async #removeCopies() {
    const { id } = this.ctx;
    try {
      await this.env.KV.delete(engine.nameOfCopiedHead(id.name));
      await this.env.KV.delete(engine.nameOfEdgePart(id.name));
      for (let cursor; ; ) {
        const listed = await this.env.KV.list({ prefix: engine.nameOfCopiedPart(id.name, ""), cursor });
        for (const { name } of listed.keys) await this.env.KV.delete(name);
        if (listed.list_complete) return;
        cursor = listed.cursor;
      }
    } catch (error) {
      log("bundle_not_removed", { object: id.name, error: describeError(error) });
    }
  }
}

/** Projects and keys; one object for the whole Worker. */
export class Directory extends ScripObject {
  setup() {
    return this.env.SCRIP_SETUP ?? "";
  }
}
