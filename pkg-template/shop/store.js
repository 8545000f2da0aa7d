// Where a shop keeps its rules and its pending redemptions. A value that the store cannot take stays in memory, so that no store makes a shop fail.

// A store that does not answer within this time is not used again.
const LATEST_MS = 3_000;
const TABLE = "kept";

/** Keeps values by name; each value is plain data. */
export class ShopStore {
  #primary;
  #memory = new Map();
  /** Changes that the database could not take, by name and in their order. */
  #unstored = new Map();
  #isDead = false;
  #last = Promise.resolve();
  #name;

  constructor(store, name) {
    this.#name = name;
    this.#primary = store === "memory" ? undefined : store === "indexeddb" ? new IndexedStore() : store;
  }

  /** Returns the value under a name; undefined where there is none, or it cannot be read. */
  async get(name) {
    if (this.#memory.has(name)) return this.#memory.get(name);
    return this.#ask((store) => store.get(`${this.#name}/${name}`));
  }

  /** Stores a value, in memory where the store is full, forbidden or closed. */
  async put(name, value) {
    this.#memory.set(name, value);
    const isStored = await this.#ask(async (store) => (await store.put(`${this.#name}/${name}`, value), true));
    // A later one may be in memory already.
    if (isStored && this.#memory.get(name) === value) this.#memory.delete(name);
  }

  async delete(name) {
    this.#memory.delete(name);
    await this.#ask((store) => store.delete(`${this.#name}/${name}`));
  }

  /** Replaces a value by what is made of it. Other tabs wait meanwhile: in IndexedDB always, and elsewhere where the host has locks. */
  update(name, change) {
    const isIndexed = this.#primary instanceof IndexedStore;
    const run = isIndexed ? () => this.#updateIndexed(name, change) : () => this.#alone(async () => this.put(name, change(await this.get(name))));
    const updated = this.#last.then(run);
    this.#last = updated.catch(() => {});
    return updated;
  }

  /** Reads and replaces a value in one transaction. Where that fails the change is made in memory, and again on the stored value with the next one. */
  async #updateIndexed(name, change) {
    const key = `${this.#name}/${name}`;
    const earlier = this.#unstored.get(name) ?? [];
    let made;
    const make = (stored) => {
      // A transaction that begins late must not change the value a second time.
      if (made) return undefined;
      const isOfStore = earlier.length > 0 || !this.#memory.has(name);
      made = isOfStore ? changed(stored, [...earlier, change]) : changed(this.#memory.get(name), [change]);
      return made.value;
    };
    const isStored = await this.#ask(async (store) => (await store.update(key, make), true));
    made ??= changed(await this.get(name), [change]);
    if (made.problem) throw made.problem;
    if (isStored) {
      this.#memory.delete(name);
      this.#unstored.delete(name);
    } else {
      this.#memory.set(name, made.value);
      this.#unstored.set(name, [...earlier, change]);
    }
  }

  async #alone(run) {
    const { locks } = globalThis.navigator ?? {};
    if (!locks || !this.#primary || this.#isDead) return run();
    let isRun = false;
    const once = () => ((isRun = true), run());
    try {
      await locks.request(`${this.#name}/store`, { signal: AbortSignal.timeout(LATEST_MS) }, once);
    } catch {
      // A host that allows no locks, or a tab that never ends with its own.
      if (!isRun) await run();
    }
  }

  /** Calls the store; returns undefined where it fails. */
  async #ask(call) {
    if (!this.#primary || this.#isDead) return undefined;
    let timer;
    const late = new Promise((done) => {
      timer = setTimeout(() => {
        this.#isDead = true;
        done(undefined);
      }, LATEST_MS);
    });
    try {
      return await Promise.race([call(this.#primary), late]);
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Returns what changes make of a value, or the problem of one. */
function changed(value, changes) {
  try {
    return { value: changes.reduce((made, change) => change(made), value) };
  } catch (problem) {
    return { problem };
  }
}

/** Values in one table of IndexedDB. */
class IndexedStore {
  #opened;

  get(name) {
    return this.#run("readonly", (table) => table.get(name));
  }

  put(name, value) {
    return this.#run("readwrite", (table) => table.put(value, name));
  }

  delete(name) {
    return this.#run("readwrite", (table) => table.delete(name));
  }

  /** Replaces a value by what is made of it, unless that is undefined. Transactions that write wait for each other, in all tabs. */
  update(name, change) {
    return this.#run("readwrite", (table) => {
      const request = table.get(name);
      request.onsuccess = () => {
        const value = change(request.result);
        if (value !== undefined) table.put(value, name);
      };
      return request;
    });
  }

  /** Resolves when the transaction is complete: until then a value may be lost. */
  async #run(mode, call) {
    const database = await this.#open();
    return new Promise((done, failed) => {
      const transaction = database.transaction(TABLE, mode);
      const request = call(transaction.objectStore(TABLE));
      transaction.oncomplete = () => done(request.result);
      transaction.onerror = transaction.onabort = () => failed(transaction.error ?? request.error);
    });
  }

  #open() {
    this.#opened ??= new Promise((done, failed) => {
      const request = indexedDB.open("scrip", 1);
      request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
      request.onerror = () => failed(request.error);
      request.onsuccess = () => {
        const database = request.result;
        // Another version of the page changes or deletes the database, or the browser does: it is opened again.
        database.onversionchange = database.onclose = () => {
          database.close();
          this.#opened = undefined;
        };
        done(database);
      };
    });
    this.#opened.catch(() => { this.#opened = undefined; });
    return this.#opened;
  }
}
