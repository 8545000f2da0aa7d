// Tests that jobs continue when the clock of the machine is set back, forward, or back and right again. That also applies when the object
// ends its life in between. The runtime is a model of workerd's alarms: one is never given before its time by the clock. Its wait is
// computed once, when it is set or found too early.
import assert from "node:assert/strict";
import { AlarmClock } from "../../worker/shell/alarm_clock.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("work clock");
const HOUR = 3_600_000;
const START = Date.parse("2026-03-01T12:00:00Z");

/** Makes a machine whose time passes by steps, and whose clock can be set. `alarm` runs when the alarm comes. */
function machine(alarm) {
  let [passed, offset] = [0, START];
  let timers = [];
  let runtimeAlarm; // { moment, at }: the time by the clock, and when the runtime checks again
  const wall = () => offset + passed;
  const clock = new AlarmClock({
    now: wall,
    setAlarm(moment) {
      // The same time again changes nothing.
      if (runtimeAlarm?.moment !== moment) runtimeAlarm = { moment, at: passed + Math.max(moment - wall(), 0) };
    },
    after(ms, run) {
      const timer = { at: passed + ms, run };
      timers.push(timer);
      return () => (timers = timers.filter((other) => other !== timer));
    },
  });
  return {
    clock,
    wall,
    set: (by) => (offset += by),
    pass(ms) {
      for (const end = passed + ms; passed < end; ) {
        passed += 100;
        if (runtimeAlarm && runtimeAlarm.at <= passed) {
          if (runtimeAlarm.moment > wall()) runtimeAlarm.at = passed + (runtimeAlarm.moment - wall());
          else {
            runtimeAlarm = undefined;
            clock.recordFired();
            alarm();
          }
        }
        for (const timer of timers.filter(({ at }) => at <= passed)) {
          timers = timers.filter((other) => other !== timer);
          timer.run();
        }
      }
    },
  };
}

/** Models an import of many slices, each due at once. After each tenth it pauses for two seconds, or less when the clock was set back. */
function importing(slices) {
  const work = { done: 0, due: 0 };
  const it = machine(() => {
    if (it.clock.isSetBack()) {
      work.due = 0;
      it.clock.recordCatchUp();
    }
    if (work.due <= it.wall()) {
      work.done += 1;
      work.due = work.done % 10 === 0 ? it.wall() + 2_000 : 0;
    }
    if (work.done < slices) it.clock.scheduleAt(work.due);
  });
  it.clock.scheduleAt(work.due);
  return { ...it, work };
}

check("jobs continue within seconds after the clock was set back, and do not stop when it is right again", async () => {
  const { set, pass, work } = importing(10_000);
  pass(2_000);
  const first = work.done;
  assert.ok(first > 0);
  set(-HOUR);
  pass(30_000);
  const second = work.done;
  assert.ok(second > first + 50, `${first}, then ${second}`);
  set(HOUR);
  pass(30_000);
  assert.ok(work.done > second + 50, `${second}, then ${work.done}`);
});

check("work that waits for a time runs at it by the clock of the machine, after any change of the clock", async () => {
  for (const by of [-24 * HOUR, -HOUR, -59_000, -1_000, 0, 1_000, 19_000, HOUR]) {
    let came;
    let early = 0;
    // An alarm that comes early finds no due work, and is set again.
    const { clock, set, pass, wall } = machine(() => {
      if (wall() >= due) return (came = wall());
      early += 1;
      return clock.scheduleAt(due);
    });
    const due = wall() + 20_000;
    clock.scheduleAt(due);
    pass(5_000);
    set(by);
    const now = wall();
    pass(Math.max(due - now, 0) + 40_000);
    assert.ok(came >= due && came <= Math.max(due, now) + 30_000, `${by}: ${came - due}`);
    assert.ok(early <= 1, `${by}: it came ${early} times too early`);
  }
});

check("requests set an alarm again that is far ahead when the clock was set, and an earlier one stays", async () => {
  let came = 0;
  const { clock, set, pass, wall } = machine(() => (came += 1));
  clock.scheduleAt(wall() + HOUR);
  clock.scheduleAt(wall() + 2 * HOUR);
  clock.scheduleAt(null);
  pass(60_000);
  clock.check();
  assert.equal(clock.isSetBack(), false);
  // Its work may have been due at once by the clock that was ahead.
  set(-HOUR);
  clock.check();
  pass(1_000);
  assert.equal(came, 1);
  assert.equal(clock.isSetBack(), true, "until the waiting work was done");
  clock.recordCatchUp();
  assert.equal(clock.isSetBack(), false);
  clock.scheduleAt(wall() + HOUR);
  set(2 * HOUR);
  pass(1_000);
  assert.equal(came, 1);
  clock.check();
  pass(1_000);
  assert.equal(came, 2, "late, and so set again");
});

check("an import that was queued while the clock was an hour ahead continues when its object comes to life again", async (context) => {
  const service = await boot();
  context.after(() => service.stop());
  const call = caller(service.url);
  const customers = Array.from({ length: 50 }, (_, place) => ({ source_id: `ahead-${place}` }));
  // The alarm is not set either: as if it were in an hour.
  const ahead = { "scrip-test-now": String(Date.now() + HOUR) };
  const { status, body } = await call("POST", "/v1/customers/bulk/async", customers, ahead);
  assert.equal(status, 202, JSON.stringify(body));
  await service.kill9();
  await service.restart();
  const action = async () => (await call("GET", `/v1/async-actions/${body.async_action_id}`)).body;
  await waitUntil(async () => (await action()).status === "DONE", "the action is done");
}, { timeout: 400_000 });
