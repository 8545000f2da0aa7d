// Decides how days and counts are written. A day without a time is a day of the project; it is never moved by the reader's time zone.

const DAY_MS = 86_400_000;
const long = { day: "numeric", month: "long", year: "numeric" };
const day = new Intl.DateTimeFormat(undefined, { ...long, timeZone: "UTC" });
const moment = new Intl.DateTimeFormat(undefined, { ...long, hour: "2-digit", minute: "2-digit" });
const month = new Intl.DateTimeFormat(undefined, { month: "short", year: "2-digit", timeZone: "UTC" });
const number = new Intl.NumberFormat();

const isDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text);

/** A day or a moment for people. */
export const showDate = (text) => (isDay(text) ? day : moment).format(new Date(text));

/** The day alone. */
export const showDay = (text) => day.format(new Date(text));

export const showMonth = (ms) => month.format(new Date(ms));

/** When a day ends, or the moment itself, in milliseconds. */
export const endOf = (text) => Date.parse(text) + (isDay(text) ? DAY_MS : 0);

/** How far away the end of a day, a moment or a number of milliseconds is. */
export function distance(end) {
  const days = Math.ceil(((typeof end === "string" ? endOf(end) : end) - Date.now()) / DAY_MS);
  return days < 1 ? "less than a day" : days === 1 ? "1 day" : `${number.format(days)} days`;
}

export const showCount = (count) => number.format(count);

export const showPoints = (count) => `${number.format(count)} ${count === 1 ? "point" : "points"}`;
