// Decides how a shop makes a customer token itself, with nothing but what its platform has. It must not know the service.
import { createHmac } from "node:crypto";

/** A token that says for so many seconds who a page's customer is; `key` is the project's `{ id, secret }`. */
export function customerToken(key, project, customer, seconds = 900, now = Math.floor(Date.now() / 1000)) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = part({ alg: "HS256", kid: key.id, typ: "JWT" });
  const body = part({ aud: project, exp: now + seconds, iat: now, sub: customer });
  const seal = createHmac("sha256", key.secret).update(`${head}.${body}`).digest("base64url");
  return `${head}.${body}.${seal}`;
}
