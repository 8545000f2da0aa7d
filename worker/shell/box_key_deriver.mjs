// Derives the keys of the sealed codes of a bundle: PBKDF2 by WebCrypto, which takes a third of the time that it takes in wasm. The engine returns
// for which codes, and stores the keys. This module has no clock of its own.

// A key takes some 30 ms of the thread, and requests go on for as long after it.
const REST_MS = 30;
const KEY_BITS = 256;

/** The keys of one object. */
export class BoxKeyDeriver {
  #object;

  /** `object` stores derived keys and returns the next step or null in one commit (`commitStep`), has WebCrypto (`subtle`), and rests (`sleep`). */
  constructor(object) {
    this.#object = object;
  }

  /** Works until no code awaits its key. Keys of a step that is not stored are derived again. */
  async runBurst() {
    const { commitStep, sleep } = this.#object;
    for (let step = commitStep({}); step !== null; ) {
      const keys = [];
      for (const code of step.codes) {
        keys.push({ code, key: await this.#derive(code, step) });
        await sleep(REST_MS);
      }
      step = commitStep({ keys });
    }
  }

  async #derive(code, { salt, rounds }) {
    const subtle = this.#object.subtle();
    const secret = await subtle.importKey("raw", new TextEncoder().encode(code), "PBKDF2", false, ["deriveBits"]);
    const how = { name: "PBKDF2", hash: "SHA-256", salt: fromHex(salt), iterations: rounds };
    return toHex(new Uint8Array(await subtle.deriveBits(how, secret, KEY_BITS)));
  }
}

const fromHex = (text) => Uint8Array.from(text.match(/../g), (byte) => parseInt(byte, 16));

const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
