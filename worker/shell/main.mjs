// Decides what the Worker exports, and that no caller waits for ever. It must not know what a request asks for.
import Exports from "glue/entry";

export { Directory, Gate, Project } from "./object.mjs";

const entry = Exports.prototype;
// Far above what any request needs; an answer that has not come by then will not come.
const LATEST_MS = 25_000;

export default {
  async fetch(request, env, ctx) {
    let timer;
    const late = new Promise((_, refuse) => {
      timer = setTimeout(() => refuse(new Error(`no answer within ${LATEST_MS} ms`)), LATEST_MS);
    });
    try {
      return await Promise.race([entry.fetch.call({ env, ctx }, request), late]);
    } catch (error) {
      return failed(error);
    } finally {
      clearTimeout(timer);
    }
  },
};

/** The answer when the entry itself failed. What the request did is not known: a retry with its Idempotency-Key is safe. */
function failed(error) {
  const requestId = `v-${crypto.randomUUID().replaceAll("-", "").slice(0, 18)}`;
  console.error(`${requestId} failed in the shell: ${error?.stack ?? error}`);
  const body = { code: 500, key: "internal_error", message: "Internal error", request_id: requestId };
  return Response.json(body, { status: 500, headers: { "x-request-id": requestId } });
}
