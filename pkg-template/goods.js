// The goods of a bundle: products and SKUs in buckets, apart from the core. A path of hashes proves a bucket by the root in the head.
import { goodsRoot, sha256 } from "./engine.js";
import { fetchBytes, readJson, refusal } from "./exchange.js";
import { isHash } from "./head.js";

const BYTES_MAX = 4 * 1024 * 1024;
// Number of buckets that are cached for later requests. One request may need more.
const CACHED_BUCKETS_MAX = 200;
// Number of buckets that are stored for the next start, and the length of their texts together.
const STORED_BUCKETS_MAX = 64;
const STORED_LENGTH_MAX = 1_000_000;

/** The goods of one head: the buckets that were fetched and proven. */
export class BundleGoods {
  // Bytes and path by number, those that were needed last at the end. Those of a former root are proven again by a new path.
  #proven = new Map();
  #former = new Map();
  #isStored = true;

  constructor({ iss, goods: { root, buckets } }) {
    Object.assign(this, { project: iss, root, buckets });
  }

  /** Returns the goods of a head, with the buckets that were fetched for the head before; undefined where the head has none. */
  static of(claims, before) {
    if (!claims.goods) return undefined;
    if (before?.root === claims.goods.root && before.project === claims.iss) return before;
    const goods = new BundleGoods(claims);
    if (before?.project === goods.project && before.buckets === goods.buckets) {
      const most = Math.max(CACHED_BUCKETS_MAX, before.#proven.size);
      goods.#former = new Map([...before.#former, ...before.#proven].slice(-most));
    }
    return goods;
  }

  /** Returns goods with the buckets of a record, of which none is proven yet; undefined without a record. Damaged ones are left out. */
  static stored({ iss, goods }, record) {
    if (!goods || !Array.isArray(record)) return undefined;
    const stored = new BundleGoods({ iss, goods: { buckets: goods.buckets } });
    stored.#former = stored.#readRecord(record);
    return stored;
  }

  /**
   * Returns a function that adds the buckets that requests needed last to a stored record, as data that JSON can carry; undefined where no
   * further one was fetched since. Other tabs write the same record, so theirs stay where there is room.
   */
  takeRecord() {
    if (this.#isStored) return undefined;
    this.#isStored = true;
    return (record) => this.#addTo(this.#readRecord(record));
  }

  /** Returns the record of stored buckets and these. Where the room ends, those stay that requests of this tab needed last. */
  #addTo(stored) {
    const buckets = new Map();
    for (const [number, bucket] of [...this.#former, ...stored, ...this.#proven]) {
      buckets.delete(number);
      buckets.set(number, bucket);
    }
    const record = [];
    let length = 0;
    for (const [number, { path, bytes }] of [...buckets].reverse()) {
      const answer = `{"path":${JSON.stringify(path)},"goods":${new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)}}`;
      // One that is too large alone takes no place of others.
      if (answer.length > STORED_LENGTH_MAX) continue;
      length += answer.length;
      if (record.length === STORED_BUCKETS_MAX || length > STORED_LENGTH_MAX) break;
      record.unshift({ number, answer });
    }
    return record;
  }

  /**
   * Returns the buckets of a record that are not proven here, by number. Each is proven when it is needed; one that is damaged, or of another
   * number of buckets, is left out.
   */
  #readRecord(record) {
    const buckets = new Map();
    for (const entry of Array.isArray(record) ? record.slice(-STORED_BUCKETS_MAX) : []) {
      try {
        const { number, answer } = entry;
        if (this.#proven.has(number)) continue;
        const { path, bucket } = this.#readAnswer(new TextEncoder().encode(answer));
        this.#checkNumber(bucket, number);
        buckets.set(number, { path, bytes: bucket });
      } catch {
        // Fetched again.
      }
    }
    return buckets;
  }

  /** Returns the bytes of the proven buckets. */
  documents() {
    return [...this.#proven.values()].map(({ bytes }) => bytes);
  }

  /** Fetches a bucket and proves it, unless it is known already. A caller who has it of a former root gets only the path. */
  async load(base, number, signal) {
    if (this.#proven.has(number)) return;
    const known = this.#former.get(number);
    if (known && goodsRoot(known.bytes, number, known.path.join("")) === this.root) return this.#add(number, known);
    const url = `${base}/client/v1/bundle/${encodeURIComponent(this.project)}/goods/${this.root}/${number}${known ? `?have=${sha256(known.bytes)}` : ""}`;
    const answer = await fetchBytes(url, "goods bucket", BYTES_MAX, { signal });
    const { path, bucket = known?.bytes } = this.#readAnswer(answer);
    if (!bucket) throw refusal("damaged", `the answer for the goods bucket \`${number}\` has no bucket`);
    const found = goodsRoot(bucket, number, path.join(""));
    if (found !== this.root) throw refusal("wrong_goods", `the path of the goods bucket \`${number}\` leads to the root \`${found}\`, not to \`${this.root}\``);
    this.#checkNumber(bucket, number);
    this.#add(number, { bytes: bucket, path });
    this.#isStored = false;
  }

  #add(number, proven) {
    this.#former.delete(number);
    this.#proven.delete(number);
    this.#proven.set(number, proven);
  }

  /** Moves the proven buckets of these numbers to the end, because a request needs them. */
  renew(numbers) {
    for (const number of numbers) {
      const proven = this.#proven.get(number);
      if (proven) this.#add(number, proven);
    }
  }

  /** Forgets the buckets beyond the bound that were not needed for the longest time, except those of these numbers. */
  forgetOthers(numbers) {
    this.renew(numbers);
    for (const number of this.#proven.keys()) {
      if (this.#proven.size <= CACHED_BUCKETS_MAX || numbers.has(number)) return;
      this.#proven.delete(number);
    }
  }

  /** Returns the path in an answer, and the bytes of the bucket, where they are there. Their hash is proven, so they are taken as they are. */
  #readAnswer(bytes) {
    let path;
    try {
      ({ path } = readJson(bytes));
    } catch {
      // Refused below.
    }
    const isPath = Array.isArray(path) && path.length === Math.log2(this.buckets) && path.every(isHash);
    if (isPath) {
      const begin = new TextEncoder().encode(`{"path":${JSON.stringify(path)}`);
      const rest = bytes.subarray(begin.length);
      if (begin.every((byte, at) => bytes[at] === byte)) {
        if (rest.length === 1) return { path };
        if (BEFORE_BUCKET.every((byte, at) => rest[at] === byte)) return { path, bucket: rest.slice(BEFORE_BUCKET.length, -1) };
      }
    }
    throw refusal("damaged", `the answer for a goods bucket has no path of ${Math.log2(this.buckets)} hashes`);
  }

  /** Refuses a proven bucket that is meant for another place. */
  #checkNumber(bytes, number) {
    let read;
    try {
      read = readJson(bytes);
    } catch (cause) {
      throw refusal("damaged", `the goods bucket \`${number}\` is no JSON`, cause);
    }
    if (read?.bucket !== number || read.buckets !== this.buckets) {
      throw refusal("wrong_goods", `the goods bucket is \`${read?.bucket}\` of \`${read?.buckets}\`, not \`${number}\` of \`${this.buckets}\``);
    }
  }
}

const BEFORE_BUCKET = new TextEncoder().encode(',"goods":');
