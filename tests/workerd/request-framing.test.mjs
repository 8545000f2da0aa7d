// Tests that the proxy and workerd agree where a request ends, also with many headers. The body of one caller is never the beginning of
// another caller's request.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { send } from "./raw_socket.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("framing");
let service;
let call;

before(async () => {
  service = await boot({ bare: false });
  call = caller(service.url);
});
after(() => service.stop());

/** Headers without a meaning: more than Node keeps by default. */
const FILLER = Array.from({ length: 1_100 }, () => "a: b").join("\r\n");

const FRAMES = {
  "a length behind many headers": (body) => `${FILLER}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  "chunks behind many headers": (body) => `${FILLER}\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
};

for (const [name, frame] of Object.entries(FRAMES)) {
  check(`${name}: the body becomes no request`, async () => {
    for (let turn = 0; turn < 10; turn++) {
      const code = `KEPT${turn}`;
      await call("POST", `/v1/vouchers/${code}`, { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } });
      const body = `DELETE /v1/vouchers/${code}?force=true HTTP/1.1\r\nX-I: `;
      await send(service.url, `GET /health/live HTTP/1.1\r\nHost: scrip\r\nConnection: close\r\n${frame(body)}`);
      const { status, body: products } = await call("GET", "/v1/products");
      assert.deepEqual([status, products?.data_ref], [200, "products"]);
      assert.equal((await call("GET", `/v1/vouchers/${code}`)).status, 200, "the voucher was deleted");
    }
  });
}

check("headers after a thousand others are checked too", async () => {
  const answer = await send(service.url, `GET /health/live HTTP/1.1\r\nHost: scrip\r\n${FILLER}\r\nHost: other\r\nConnection: close\r\n\r\n`);
  assert.deepEqual(answer.statuses, [400]);
});

for (const host of ["a~b", "~"]) {
  check(`Host: ${host} is no host`, async () => {
    const answer = await send(service.url, `GET /health/live HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    assert.deepEqual(answer.statuses, [400]);
  });
}
