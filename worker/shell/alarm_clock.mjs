// Sets the alarm of an object and sets it again when the clock of the machine was changed.
//
// The runtime gives an alarm at its time by the clock of the machine, but computes the wait only once. The alarm comes late after the clock
// was set forward. Work that was due immediately waits when the clock was set back. So each request compares the clock with the alarm, and
// a timer does the same for an alarm that is near.

/** The clock counts as set back when it goes back by more than this. */
const SET_BACK_MS = 5_000;
/** An alarm that is later than this is set again. */
const LATE_MS = 5_000;
/** For an alarm later than this there is no timer; only the next request checks it. */
const NEAR_MS = 60_000;

export class AlarmClock {
  #object;
  /** The time of the alarm. */
  #alarmAt = undefined;
  /** The time of the last reading of the clock, and whether the clock was set back since `recordCatchUp`. */
  #lastNow = -Infinity;
  #isSetBack = false;
  #cancel = () => {};

  /**
   * `object` reads the clock of the machine (`now`), sets its alarm (`setAlarm`), and runs a function later (`after`, which returns its
   * cancellation).
   */
  constructor(object) {
    this.#object = object;
  }

  /** Sets the alarm for a time. An alarm that is set for an earlier time stays. For work that is due already, the alarm is set for now. */
  scheduleAt(time) {
    this.check();
    if (time !== null && !(this.#alarmAt <= time)) this.#set(Math.max(time, this.#lastNow));
  }

  /** Records that the alarm has come. */
  recordFired() {
    this.clear();
  }

  /** Drops the alarm. */
  clear() {
    this.#alarmAt = undefined;
    this.#cancel();
  }

  /**
   * Sets the alarm for now when it is late, or when it was set before the clock was set back. Its work may be due; its handler sets a later
   * alarm otherwise.
   */
  check() {
    const now = this.#object.now();
    const isSetBack = now < this.#lastNow - SET_BACK_MS;
    this.#isSetBack ||= isSetBack;
    this.#lastNow = now;
    if (this.#alarmAt === undefined) return;
    if (this.#alarmAt < now - LATE_MS || (isSetBack && this.#alarmAt > now)) this.#set(now);
  }

  /** Returns whether the clock was set back since `recordCatchUp`. */
  isSetBack() {
    this.check();
    return this.#isSetBack;
  }

  /** Records that the work which waited for the earlier clock was done. */
  recordCatchUp() {
    this.#isSetBack = false;
  }

  #set(time) {
    this.#alarmAt = time;
    this.#object.setAlarm(time);
    this.#watchAlarm();
  }

  /** Checks the alarm again shortly after its time. */
  #watchAlarm() {
    this.#cancel();
    const wait = Math.max(this.#alarmAt - this.#object.now(), 0) + LATE_MS + 1;
    if (wait > NEAR_MS) return;
    this.#cancel = this.#object.after(wait, () => {
      this.check();
      if (this.#alarmAt !== undefined) this.#watchAlarm();
    });
  }
}
