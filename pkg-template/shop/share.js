// Lets one of the tabs of a shop poll for all: the one that has the lock. The others get what it finds, and prove it again.

/** A group of tabs with one name. Where the host has no locks or no channel, each tab polls for itself. */
export class TabGroup {
  #channel;

  /** `onMessage` gets what another tab has found; `lead` is called when this tab is to poll, until the signal ends. */
  constructor(name, { isShared, signal, onMessage, lead }) {
    const { locks } = globalThis.navigator ?? {};
    if (!isShared || !locks || !globalThis.BroadcastChannel) {
      lead();
      return;
    }
    try {
      this.#channel = new BroadcastChannel(name);
      this.#channel.unref?.();
      this.#channel.onmessage = ({ data }) => onMessage(data);
    } catch {
      lead();
      return;
    }
    signal.addEventListener("abort", () => this.#channel.close());
    const untilEnd = () => {
      if (signal.aborted) return undefined;
      lead();
      return new Promise((done) => { signal.addEventListener("abort", () => done()); });
    };
    // A host may have locks and forbid them.
    const requestLock = async () => locks.request(`${name}/poll`, { signal }, untilEnd);
    requestLock().catch(() => {
      if (!signal.aborted) lead();
    });
  }

  /** Sends a message to the other tabs; what cannot be sent is found by each of them. */
  post(message) {
    try {
      this.#channel?.postMessage(message);
    } catch {
      // The channel is closed.
    }
  }
}
