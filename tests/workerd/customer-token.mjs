// Makes a customer token as a shop does, with the standard library only.
import { createHmac } from "node:crypto";

/**
 * Returns a token that is valid for a number of seconds and names a client's customer; `key` is the project's `{ id, secret }`, `more` has
 * further claims.
 */
export function customerToken(key, project, customer, seconds = 900, now = Math.floor(Date.now() / 1000), more = {}) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = part({ alg: "HS256", kid: key.id, typ: "JWT" });
  const body = part({ aud: project, exp: now + seconds, iat: now, sub: customer, ...more });
  const seal = createHmac("sha256", key.secret).update(`${head}.${body}`).digest("base64url");
  return `${head}.${body}.${seal}`;
}
