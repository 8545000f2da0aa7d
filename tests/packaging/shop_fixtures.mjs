// A server and shops for tests of `open`, on virtual time; each test begins with a service that answers, and ends with all shops closed.
import { after, afterEach, before, beforeEach } from "node:test";
import * as scrip from "../../pkg/node.js";
import { startShopServer } from "./shop_server.mjs";
import { startTime, stopTime } from "./virtual_time.mjs";

/** The server of the test file, once its tests run. */
export let server;
const shops = [];

/** Starts the server before the tests of a file, and the time before each. */
export function useShops() {
  before(async () => { server = await startShopServer(); });
  after(() => server.close());
  beforeEach(() => {
    startTime();
    server.online();
    server.serveRules();
  });
  afterEach(() => {
    for (const shop of shops.splice(0)) shop.close();
    stopTime();
  });
}

/** Opens a shop that the end of the test closes. */
export async function open(more) {
  const shop = await scrip.open(server.options(more));
  shops.push(shop);
  return shop;
}
