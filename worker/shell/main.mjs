// Exports the classes and the entry of the Worker, and limits how long a caller waits for an answer.
import module from "./index_bg.wasm";
import * as entry from "glue/entry";
import { readBody } from "../src/host/request.js";
import { describeError, log } from "./log.mjs";
import { listen } from "./rule_revisions.mjs";

export { Feed } from "./feed.mjs";
// `Gate` is the deployed name of the class; a change would be a migration of the platform.
export { AttemptLimiter as Gate, Directory, Project } from "./object.mjs";

entry.initSync({ module });
listen(entry.reportRulesRevision);

// Far above the time that any request needs; an answer that has not come by then will not come.
const LATEST_MS = 25_000;
// Requests of clients that the entry mostly answers by its own rules. Their bodies are read first: then the engine answers at once.
const AT_ONCE = /^\/client\/v1\/(?:validations|qualifications)$/;
const AT_ONCE_BYTES_MAX = 65_536;

export default {
  async fetch(request, env, ctx) {
    try {
      const body = mayBeAtOnce(request) ? await readBody(request, AT_ONCE_BYTES_MAX) : undefined;
      const answer = entry.answer(request, body, env, ctx);
      return answer instanceof Promise ? await waitFor(answer, request) : answer;
    } catch (error) {
      return answerFailure(request, describeError(error));
    }
  },
};

/** Returns whether the body is known to be short. One in chunks has no length, even with a header for it. */
function mayBeAtOnce({ method, url, headers }) {
  const isShort = Number(headers.get("content-length") ?? NaN) <= AT_ONCE_BYTES_MAX && !headers.has("transfer-encoding");
  return method === "POST" && isShort && AT_ONCE.test(new URL(url).pathname);
}

/** Waits for an answer; after a while the caller gets that of a failure. */
async function waitFor(answer, request) {
  let timer;
  const late = new Promise((done) => {
    timer = setTimeout(done, LATEST_MS);
  });
  try {
    return (await Promise.race([answer, late])) ?? answerFailure(request, `there was no answer within ${LATEST_MS} ms`);
  } finally {
    clearTimeout(timer);
  }
}

/** Answers for an entry that failed. The effect of the request is unknown: a retry with its Idempotency-Key is safe. */
function answerFailure(request, error) {
  const requestId = `v-${crypto.randomUUID().replaceAll("-", "").slice(0, 18)}`;
  log("request_failed", { request_id: requestId, route: routeOf(request), status: 500, error });
  const body = { code: 500, key: "internal_error", message: "Internal error", request_id: requestId };
  return Response.json(body, { status: 500, headers: { "x-request-id": requestId } });
}

/**
 * Returns the route of a request as a pattern, because its path may contain personal data. Counts the request as answered, where the entry
 * still can.
 */
function routeOf(request) {
  try {
    return entry.countFailed(request.method, new URL(request.url).pathname);
  } catch {
    return request.method;
  }
}
