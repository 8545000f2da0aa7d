// Starts a browser for a test: Debian's Chromium, headless, with a fresh profile and no traffic of its own.
import { accessSync, constants } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/** Returns the path of a Chromium that can be started, or undefined. */
export function find() {
  const places = process.env.SCRIP_CHROMIUM ? [process.env.SCRIP_CHROMIUM] : PLACES;
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Returns why browser tests cannot run here, with the remedy; undefined when they can. */
export function missing() {
  if (find()) return undefined;
  return "no Chromium found: `apt-get install -y chromium`, or name yours in SCRIP_CHROMIUM";
}

/** Starts a browser; its `close` also removes the profile. */
export async function launch(options = {}) {
  const profile = await mkdtemp(join(tmpdir(), "scrip-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: find(), args: FLAGS, headless: true, ...options,
  });
  return {
    context,
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}
