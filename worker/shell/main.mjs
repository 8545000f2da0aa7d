// Exports the classes and the entry of the Worker, and limits how long a caller waits for an answer.
import module from "./index_bg.wasm";
import * as entry from "glue/entry";
import { BODY_MS, readBody } from "../src/host/request.js";
import { edgeRules } from "./edge_rules.mjs";
import { describeError, log } from "./log.mjs";
import { listen } from "./rule_revisions.mjs";

export { Feed } from "./feed.mjs";
// `Gate` is the deployed name of the class; a change would be a migration of the platform.
export { AttemptLimiter as Gate, Directory, Project } from "./object.mjs";

entry.initSync({ module });
entry.ready();
// True when an object of this process has reported the revision of its rules.
let hasReports = false;
listen((project, revision) => {
  renew();
  hasReports = true;
  entry.reportRulesRevision(project, revision);
});
// A trap after an `await` ends no call of the shell. The runtime reports it: then what waits is answered at once.
for (const event of ["error", "unhandledrejection"]) addEventListener(event, () => renew());

// Far above the time that any request needs; an answer that has not come by then will not come.
const LATEST_MS = 25_000;
// Requests of clients that the entry mostly answers by its own rules. Their bodies are read first: then the engine answers at once.
const AT_ONCE = /^https?:\/\/[^/]+\/client\/v1\/(?:validations|qualifications)$/;
const AT_ONCE_BYTES_MAX = 65_536;
// Functions that end the waiting of requests, each with a reason.
const waiting = new Set();

export default {
  async fetch(request, env, ctx) {
    const arrivedAt = Date.now();
    try {
      const body = mayBeAtOnce(request) ? await readBody(request, AT_ONCE_BYTES_MAX) : undefined;
      renew();
      const answer = entry.answer(request, body, arrivedAt, edgeRules, env, ctx);
      return answer instanceof Promise ? await waitFor(answer, request, arrivedAt) : answer;
    } catch (error) {
      return answerFailure(request, arrivedAt, describeError(error));
    }
  },
};

/** Returns whether the body is known to be short. One in chunks has no length, also where a header names one. */
function mayBeAtOnce({ method, url, headers }) {
  if (method !== "POST" || !AT_ONCE.test(url)) return false;
  return Number(headers.get("content-length") ?? NaN) <= AT_ONCE_BYTES_MAX && !headers.has("transfer-encoding");
}

/**
 * Creates a new instance of the entry where the last one has trapped. What waited there has no answer. Other calls would still pass what they
 * are given to the memory of the old one. The new one has none of the reports that forbade former rules.
 */
function renew() {
  if (!entry.ready()) return;
  if (hasReports) entry.loseRulesRevisions();
  for (const end of waiting) end("the entry has trapped");
}

/** Waits for an answer; a while after the arrival of the request the caller gets that of a failure. */
async function waitFor(answer, request, arrivedAt) {
  let end;
  const failed = new Promise((done) => { end = done; });
  // A clock that was set forward or back meanwhile neither ends a request nor prolongs it.
  const passed = Math.min(Math.max(Date.now() - arrivedAt, 0), BODY_MS);
  const timer = setTimeout(end, LATEST_MS - passed, `there was no answer within ${LATEST_MS} ms`);
  waiting.add(end);
  try {
    const found = await Promise.race([answer, failed]);
    return typeof found === "string" ? answerFailure(request, arrivedAt, found) : found;
  } finally {
    clearTimeout(timer);
    waiting.delete(end);
  }
}

/** Answers for an entry that failed. The effect of the request is unknown: a retry with its Idempotency-Key is safe. */
function answerFailure(request, arrivedAt, error) {
  const requestId = `v-${crypto.randomUUID().replaceAll("-", "").slice(0, 18)}`;
  log("request_failed", { request_id: requestId, route: countFailed(request, arrivedAt), status: 500, error });
  const body = { code: 500, key: "internal_error", message: "Internal error", request_id: requestId };
  return Response.json(body, { status: 500, headers: { "x-request-id": requestId } });
}

/**
 * Counts the request as answered, where the entry still can. Returns its route as a pattern, because its path may contain personal data.
 */
function countFailed({ method, url }, arrivedAt) {
  try {
    renew();
    return entry.countFailed(method, new URL(url).pathname, Date.now() - arrivedAt);
  } catch {
    return method;
  }
}
