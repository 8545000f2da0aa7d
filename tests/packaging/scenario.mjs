// Runs the same scenario on every host: the same basket through every entry, frequent mistakes, and shops of a service that answers and of one that
// does not. The files next to it import the installed package each in its own way and call this.

const refusal = (body) => {
  try {
    body();
    return "nothing was thrown";
  } catch (error) {
    const cause = error.cause ? ` ${JSON.stringify(error.cause)}` : "";
    return `${error instanceof Error ? "Error" : typeof error}: ${error.message}${cause}`;
  }
};

export async function scenario(scrip, { rules, request, context, service }) {
  await scrip.load();
  const rulesText = JSON.stringify(rules);
  const requestText = JSON.stringify(request);
  const utf8 = (text) => new TextEncoder().encode(text);
  const prepared = scrip.prepare(rulesText);
  const moments = ["2026-03-01T12:00:00Z", "2026-03-01T13:00:00+01:00", 1772366400000, new Date(1772366400000)];
  const answers = {
    text: prepared.validate(requestText, context),
    bytes: new TextDecoder().decode(prepared.validateBytes(utf8(requestText), context)),
    object: JSON.stringify(prepared.validateObject(request, context)),
    object_with_undefined: JSON.stringify(prepared.validateObject({ ...request, customer: undefined }, context)),
    rules_as_bytes: scrip.prepare(utf8(rulesText)).validate(requestText, context),
    rules_as_object: scrip.prepare(rules).validate(requestText, context),
  };
  for (const now of moments) answers[`now ${typeof now} ${now}`] = prepared.validate(requestText, { ...context, now });
  const hash = prepared.hash;
  const drawn = [prepared.validateObject(request), prepared.validateObject(request)];
  const mistakes = {
    bad_rules: refusal(() => scrip.prepare("{")),
    wrong_rules: refusal(() => scrip.prepare({ vouchers: 5 })),
    no_rules: refusal(() => scrip.prepare(undefined)),
    object_as_text: refusal(() => prepared.validate(request)),
    text_as_bytes: refusal(() => prepared.validateBytes(requestText)),
    bad_now: refusal(() => prepared.validate(requestText, { now: "yesterday" })),
    now_without_zone: refusal(() => prepared.validate(requestText, { now: "2026-03-01T12:00:00" })),
    bad_seed: refusal(() => prepared.validate(requestText, { seed: "xyz" })),
    circular: refusal(() => {
      const loop = {};
      loop.loop = loop;
      prepared.validateObject(loop);
    }),
  };
  prepared.free();
  prepared.free();
  mistakes.freed_validate = refusal(() => prepared.validate(requestText));
  mistakes.freed_object = refusal(() => prepared.validateObject(request));
  mistakes.freed_hash = refusal(() => prepared.hash);
  // After all these mistakes the engine itself still works.
  answers.afterwards = scrip.prepare(rulesText).validate(requestText, context);
  return { answers, hash, mistakes, two_seeds_differ: drawn[0].id !== drawn[1].id, opened: await openNowhere(scrip), shop: await openShop(scrip, service) };
}

/** Opens a shop of a service that is not there. */
async function openNowhere({ open }) {
  const shop = await open({ url: "http://127.0.0.1:1", key: { id: "app", token: "secret" }, store: "memory", poll: false, timeout: 5_000 });
  const { kind, likely, missing } = await shop.check({ redeemables: [{ object: "voucher", id: "A" }], order: { amount: 100 } });
  const { state } = shop;
  shop.close();
  return { kind, likely, missing, state };
}

/** Opens a shop of a service that answers with these signed rules, and checks two carts. */
async function openShop({ open }, { head, core, keys, code }) {
  const fetch = async (url) => answerOf(new URL(url).pathname === "/client/v1/bundle" ? head : core);
  const shop = await open({ url: "https://promotions.example", key: { id: "app", token: "secret" }, keys, fetch, store: "memory", poll: false });
  const cartOf = (id) => ({ redeemables: [{ object: "voucher", id }], order: { amount: 1_000 } });
  const { kind, valid, order } = await shop.check(cartOf(code));
  const unknown = shop.checkNow(cartOf("UNKNOWN"));
  const { state } = shop;
  shop.close();
  return { kind, valid, total: order?.total_amount, unknown: unknown.valid ?? unknown.kind, state };
}

/** An answer with a text, as `fetch` gives it: not every host has a `Response`. */
function answerOf(text) {
  const chunks = [new TextEncoder().encode(text)];
  const read = async () => (chunks.length === 0 ? { done: true } : { done: false, value: chunks.shift() });
  const headers = new Map([["date", new Date().toUTCString()], ["cache-control", "no-store"]]);
  return { ok: true, status: 200, headers: { get: (name) => headers.get(name) ?? null }, body: { getReader: () => ({ read }) } };
}
