// Measures how long the package takes to prove the head of a bundle by its signature, in wasm, and to hash a core.
import { generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";

const folder = new URL("../pkg/", import.meta.url);
// A head has at most 1 kB, a core in one part 512 kB.
const HEAD_BYTES = 1_024;
const CORE_BYTES = 512 * 1_024;

/** Returns the medians in milliseconds. */
export async function measureVerification() {
  const engine = await import(new URL("engine.js", folder));
  engine.initSync({ module: readFileSync(new URL("scrip.wasm", folder)) });
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = Buffer.from(publicKey.export({ format: "jwk" }).x, "base64url");
  const head = Buffer.alloc(HEAD_BYTES, "e");
  const signature = sign(null, head, privateKey);
  if (!engine.verifySignature(key, head, signature)) throw new Error("the signature is right, and was refused");
  const core = Buffer.alloc(CORE_BYTES, "c");
  return {
    signature_ms: median(2_000, () => engine.verifySignature(key, head, signature)),
    core_ms: median(50, () => engine.sha256(core)),
  };
}

function median(times, body) {
  for (let warm = 0; warm < times / 10; warm += 1) body();
  const took = Array.from({ length: times }, () => {
    const begin = performance.now();
    body();
    return performance.now() - begin;
  });
  return took.sort((a, b) => a - b)[times >> 1];
}
