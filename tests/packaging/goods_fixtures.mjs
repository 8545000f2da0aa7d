// A catalogue in buckets with the tree of hashes over them, as the service makes it.
import { createHash } from "node:crypto";
import { sha256 } from "./bundle_server.mjs";

export const BUCKETS = 8;

/** Returns the number of the bucket of a name. */
export const bucketOf = (name, buckets = BUCKETS) => Math.floor((createHash("sha256").update(name).digest().readUInt16BE(0) * buckets) / 65_536);
const join = (left, right) => createHash("sha256").update(Buffer.from(left + right, "hex")).digest("hex");

/** Returns a catalogue in buckets: the texts, the root, and the path of each. `numbered` replaces the numbers in a bucket. */
export function inBuckets({ products = [], skus = [], buckets = BUCKETS, numbered = (bucket) => ({ bucket, buckets }) }) {
  const within = (list, bucket) => list.filter(({ id, source_id }) => [id, source_id].some((name) => name && bucketOf(name, buckets) === bucket));
  const texts = Array.from({ length: buckets }, (_, bucket) => JSON.stringify({
    ...numbered(bucket), products: within(products, bucket), skus: within(skus, bucket),
  }));
  const levels = [texts.map((text) => sha256(text))];
  while (levels.at(-1).length > 1) levels.push(levels.at(-1).flatMap((hash, at, all) => (at % 2 === 0 ? [join(hash, all[at + 1])] : [])));
  const pathOf = (bucket) => levels.slice(0, -1).map((level, height) => level[(bucket >> height) ^ 1]);
  return { texts, hashes: levels[0], root: levels.at(-1)[0], pathOf };
}

/** Returns the answer of the service for a bucket. */
export const answerOf = (goods, bucket, text = goods.texts[bucket]) => `{"path":${JSON.stringify(goods.pathOf(bucket))},"goods":${text}}`;
