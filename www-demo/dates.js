// Formats days and counts. A day without a time is a day of the project; the reader's time zone does not change it.

const DAY_MS = 86_400_000;
const long = { day: "numeric", month: "long", year: "numeric" };
const day = new Intl.DateTimeFormat(undefined, { ...long, timeZone: "UTC" });
const dayAndTime = new Intl.DateTimeFormat(undefined, { ...long, hour: "2-digit", minute: "2-digit" });
const month = new Intl.DateTimeFormat(undefined, { month: "short", year: "2-digit", timeZone: "UTC" });
const number = new Intl.NumberFormat();

const isDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text);

/** Formats a day or a time. */
export const showDate = (text) => (isDay(text) ? day : dayAndTime).format(new Date(text));

/** Formats only the day. */
export const showDay = (text) => day.format(new Date(text));

export const showMonth = (ms) => month.format(new Date(ms));

/** Returns when a day ends, or the time itself, in milliseconds. */
export const endOf = (text) => Date.parse(text) + (isDay(text) ? DAY_MS : 0);

/** Returns the distance to the end of a day, a time or a number of milliseconds, as text. */
export function distance(end) {
  const days = Math.ceil(((typeof end === "string" ? endOf(end) : end) - Date.now()) / DAY_MS);
  return days < 1 ? "less than a day" : days === 1 ? "1 day" : `${number.format(days)} days`;
}

export const showCount = (count) => number.format(count);

export const showPoints = (count) => `${number.format(count)} ${count === 1 ? "point" : "points"}`;
