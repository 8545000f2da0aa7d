// The head of a bundle: a signed statement which core the service's rules are, and for which time.
import { refusal } from "./exchange.js";
import { readJws, shown } from "./jws.js";

const FORMAT = 2;
const HOUR_MS = 3_600_000;
const LONGEST_HORIZON_MS = 12 * HOUR_MS;
const LONGEST_LIFE_S = 24 * 3_600;
const AHEAD_S = 300;
// The last millisecond of the year 9999.
const LAST_MS = 253_402_300_799_999;

/** Reads a head. Its claims count only after `checkHead`. */
export const readHead = (text) => readJws(text, "scrip-bundle+jwt", "head");

/** Checks that a trusted key signed the head, that it is of this project, where one is known, and that its claims are usable. */
export function checkHead(head, keys, project) {
  const key = keys.get(head.kid);
  if (!key) throw refusal("unknown_key", `the head is signed by the key \`${shown(head.kid)}\`, which is not pinned, and no pinned key vouches for it`);
  if (!head.isSignedBy(key)) throw refusal("wrong_signature", `the head is not signed by the key \`${head.kid}\` that it names`);
  const { iss, fmt } = head.claims;
  if (fmt !== FORMAT) throw refusal("unknown_format", `the bundle has the format \`${shown(fmt)}\`; this package reads ${FORMAT}`);
  const wrong = Object.entries(CLAIMS).find(([name, isRight]) => !isRight(head.claims[name], head.claims));
  if (wrong) throw refusal("damaged", `the head's claim \`${wrong[0]}\` is \`${shown(head.claims[wrong[0]])}\``);
  if (project !== undefined && iss !== project) throw refusal("wrong_project", `the bundle is of the project \`${shown(iss)}\`, not of \`${project}\``);
}

const isIntegerUpTo = (most) => (value) => Number.isSafeInteger(value) && value >= 0 && value <= most;
const isTime = isIntegerUpTo(LAST_MS);
const isSecond = isIntegerUpTo(Math.floor(LAST_MS / 1_000));

const isNumberOfBuckets = (value) => Number.isSafeInteger(value) && value > 0 && value <= 2 ** 20 && Number.isInteger(Math.log2(value));

const CLAIMS = {
  iss: (value) => typeof value === "string" && value !== "" && value.length <= 100,
  decides: isIntegerUpTo(0xffff_ffff),
  writes: isIntegerUpTo(0xffff_ffff),
  epoch: isTime,
  rev: isTime,
  core: (value) => isHash(value),
  from: isTime,
  to: (value, { from }) => isTime(value) && value > from && value <= from + LONGEST_HORIZON_MS,
  iat: isSecond,
  // Not before the horizon ends: a verdict by an expired head lacks `horizon`.
  exp: (value, { iat, to }) => isSecond(value) && value > iat && value <= iat + LONGEST_LIFE_S && value * 1_000 >= to,
  // Absent while the service builds them.
  goods: (value) => value === undefined || (isHash(value?.root) && isNumberOfBuckets(value.buckets)),
  left_out: (value) => Array.isArray(value) && value.every((kind) => typeof kind === "string"),
};

/** Returns whether a value is a SHA-256 in hex. */
export const isHash = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

/** Checks that a head is of this time, in milliseconds since 1970. */
export function checkTime({ iat, exp }, now) {
  const seconds = Math.floor(now / 1_000);
  if (seconds >= exp) throw refusal("expired", `the bundle expired at ${dated(exp)}; it is ${dated(seconds)}`);
  if (iat >= seconds + AHEAD_S) throw refusal("issued_ahead", `the bundle was issued at ${dated(iat)}, and it is only ${dated(seconds)}`);
}

const dated = (seconds) => new Date(seconds * 1_000).toISOString();

/** Checks that a head is not older than the one that was accepted before, and no other one of the same revision. */
export function checkRevision(head, before) {
  if (!before) return;
  const [{ epoch, rev }, least] = [head.claims, before.claims];
  const difference = epoch - least.epoch || rev - least.rev;
  if (difference > 0 || (difference === 0 && head.text === before.text)) return;
  const what = difference === 0 ? "another one of the accepted revision" : "older than the accepted revision";
  throw refusal("older_revision", `the bundle's revision \`${epoch}.${rev}\` is ${what} \`${least.epoch}.${least.rev}\``);
}
