// Decides what the Worker exports, and that no caller waits for ever. It must not know what a request asks for.
import module from "./index_bg.wasm";
import * as entry from "glue/entry";
import { log, told } from "./log.mjs";

export { Directory, Gate, Project } from "./object.mjs";

entry.initSync({ module });

// Far above what any request needs; an answer that has not come by then will not come.
const LATEST_MS = 25_000;

export default {
  async fetch(request, env, ctx) {
    let timer;
    const late = new Promise((done) => {
      timer = setTimeout(done, LATEST_MS);
    });
    try {
      const answer = await Promise.race([entry.fetch(request, env, ctx), late]);
      return answer ?? failed(request, `there was no answer within ${LATEST_MS} ms`);
    } catch (error) {
      return failed(request, told(error));
    } finally {
      clearTimeout(timer);
    }
  },
};

/** The answer when the entry itself failed. What the request did is not known: a retry with its Idempotency-Key is safe. */
function failed(request, error) {
  const requestId = `v-${crypto.randomUUID().replaceAll("-", "").slice(0, 18)}`;
  log("request_failed", { request_id: requestId, route: routeOf(request), status: 500, error });
  const body = { code: 500, key: "internal_error", message: "Internal error", request_id: requestId };
  return Response.json(body, { status: 500, headers: { "x-request-id": requestId } });
}

/** The route of a request by its pattern; what was called may name somebody. It is counted as answered, where the entry still can. */
function routeOf(request) {
  try {
    return entry.countFailed(request.method, new URL(request.url).pathname);
  } catch {
    return request.method;
  }
}
