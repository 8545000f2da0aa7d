// Calls to the service that act or decide there, with the client's key and the customer's token.
import { fetchOf, isObject, readBody, readText, withinLimit } from "../exchange.js";
import { headersOf } from "../head_request.js";

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** Sends calls for a shop. */
export class ServiceCalls {
  #options;

  constructor(options) {
    this.#options = options;
  }

  /** Posts JSON text; returns the status, the headers, the text and the parsed JSON of an answer. Fails where the answer is incomplete. */
  post(path, body, { token, key, signal }) {
    const { url, key: client, origin, timeout, fetch } = this.#options;
    const headers = { ...headersOf(client, origin), "Content-Type": "application/json" };
    if (token !== undefined) headers["X-Customer-Token"] = token;
    if (key !== undefined) headers["Idempotency-Key"] = key;
    return withinLimit(signal, async (within) => {
      const response = await fetchOf(within)(`${url}${path}`, { method: "POST", headers, body, signal: within });
      const text = readText(await readBody(response, "answer", ANSWER_BYTES_MAX, within));
      return { status: response.status, headers: response.headers, text, json: parse(text) };
    }, { timeout, fetch });
  }

  /** Has the service decide; returns the text of its verdict. Fails where the service gives none. */
  async decide(path, body, options) {
    const { status, text, json } = await this.post(path, body, options);
    const isVerdict = status === 200 && (typeof json?.valid === "boolean" || json?.redeemables !== undefined);
    if (isVerdict || (status === 400 && isErrorOf(json, 400))) return text;
    const reason = [json?.message, json?.details].filter(Boolean).join(": ");
    const error = new Error(`the service answered ${status} to the request for a verdict${reason && `: ${reason}`}`);
    throw Object.assign(error, { status, body: json });
  }
}

/** Returns whether a body is the service's error of a status: something between may answer with any page. */
export const isErrorOf = (json, status) => json?.code === status && typeof json.key === "string";

/** Returns the object that a text is, if it is one. */
function parse(text) {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
