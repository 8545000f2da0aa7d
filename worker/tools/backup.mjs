// Implements `npm run backup`: it makes an archive of a local service's data while the service runs.
//
// npm run backup                   to backups/<time>
// npm run backup -- <new folder>
//
// Each object is copied as it is at one instant, one object after the other. Projects and the directory contain nothing that must agree
// across objects.
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { seal, sync } from "./archive.mjs";
import { copyDatabases } from "./db_copy.mjs";
import { main, print, Remedy, root } from "./console.mjs";

/** Makes an archive of the data folder `data` at the free path `to`; returns its manifest. */
export async function backup({ data, to }) {
  const objects = join(data, "objects");
  if (!existsSync(objects)) throw new Remedy(`there is no data in ${data}: say with SCRIP_DATA=... where the service has it`);
  if (existsSync(to)) throw new Remedy(`${to} is there already: name a new folder`);
  const partial = `${to}.partial-${process.pid}`;
  const began = new Date().toISOString();
  try {
    mkdirSync(join(partial, "objects"), { recursive: true });
    const copied = await copyDatabases(objects, join(partial, "objects"));
    if (copied.length === 0) throw new Remedy(`there are no databases in ${objects}: the service has never run there`);
    const files = copied.map(({ file, schema }) => ({ path: `objects/${file}`, schema }));
    // Records that the demo's campaigns exist; without it the next start would create them again.
    if (existsSync(join(data, "seeded"))) {
      cpSync(join(data, "seeded"), join(partial, "seeded"));
      files.push({ path: "seeded" });
    }
    const manifest = await seal(partial, { began, files });
    renameSync(partial, to);
    sync(dirname(to));
    return manifest;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    const data = resolve(root, process.env.SCRIP_DATA ?? ".scrip");
    const timestamp = new Date().toISOString().replace(/\..*/, "").replaceAll(":", "-");
    const to = resolve(root, process.argv[2] ?? `backups/${timestamp}Z`);
    const { files } = await backup({ data, to });
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    print(`${to} has ${files.length} files of ${(bytes / 1e6).toFixed(1)} MB, each whole; copy it to another machine`);
  });
}
