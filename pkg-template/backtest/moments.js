// Times of orders and drafts, in milliseconds since 1970.

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)(?:[Zz]|([+-]\d\d):?(\d\d))?)?$/;

/** Returns the time of a date or a text in ISO 8601, which without a zone is in UTC as for the service; undefined for any other value. */
export function timeOf(value) {
  const time = typeof value === "string" ? timeOfText(value) : Number(value instanceof Date ? value : NaN);
  return Number.isSafeInteger(time) && time >= 0 ? time : undefined;
}

/** Returns the time of a start date: that of a day without a clock is its begin in a time zone, as the engine reads it. */
export function startOf(value, zone) {
  const time = timeOf(value);
  if (time === undefined || !/^\d{4}-\d\d-\d\d$/.test(value)) return time;
  // The offset at the begin of the day may be another one than at that of the day in UTC.
  const guess = timeOf(`${value}T00:00${offsetAt(time, zone)}`) ?? time;
  return timeOf(`${value}T00:00${offsetAt(guess, zone)}`) ?? time;
}

/** Returns the offset of a zone as ISO 8601 writes it; that of UTC where the host does not know the zone. */
function offsetAt(time, zone) {
  try {
    const parts = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(time);
    return parts.find(({ type }) => type === "timeZoneName").value.slice("GMT".length) || "Z";
  } catch {
    return "Z";
  }
}

function timeOfText(text) {
  const [, year, month, day, clock = "00:00", hours = "+00", minutes = "00"] = ISO.exec(text) ?? [];
  // A day that the month does not have would be one of the next.
  if (new Date(Date.UTC(year, month - 1, day)).getUTCDate() !== Number(day)) return NaN;
  return Date.parse(`${year}-${month}-${day}T${clock}${hours}:${minutes}`);
}
