// Sends a request byte by byte for a test.
import { connect } from "node:net";

/**
 * Returns the bytes of the answer until the connection ends, or until no more arrive, and the milliseconds until the first. `later` is sent
 * after a number of milliseconds.
 */
export function send(url, bytes, patience = 5_000, later = undefined) {
  return new Promise((done) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let text = "";
    let took;
    const begun = Date.now();
    const finish = (ended) => {
      clearTimeout(timer);
      socket.destroy();
      done({ text, took, ended, statuses: [...text.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => Number(status)) });
    };
    const timer = setTimeout(finish, patience, false);
    socket.on("data", (chunk) => {
      took ??= Date.now() - begun;
      text += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => finish(true));
    socket.write(Buffer.from(bytes, "latin1"));
    if (later) setTimeout(() => socket.write(Buffer.from(later.bytes, "latin1")), later.ms);
  });
}
