// Implements `npm run restore`: it restores an archive of `npm run backup` into the data folder of a service.
//
// npm run restore -- <archive>
// npm run restore -- <archive> --retired-key=<kid>   for each key of bundles that was retired since
//
// The whole archive is checked and copied next to the data first; then two folders are renamed. The previous data stay in a folder of their own.
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { newestSchema, sha256Of, sync, unseal } from "./archive.mjs";
import { checkDatabases, raiseEpoch, retireKey } from "./db_copy.mjs";
import { lockFolder } from "./data_lock.mjs";
import { main, print, Remedy, root } from "./console.mjs";

/**
 * Restores the archive `from` into the data folder `data`. Clients accept the restored bundles, as their epoch rises; the keys with the ids
 * `retiredKeys` sign no more. Returns `{ manifest, previous }`, where `previous` is the folder of the previous data.
 */
export async function restore({ from, data, retiredKeys = [] }) {
  const objects = join(data, "objects");
  const manifest = await unseal(from);
  const databases = manifest.files.map(({ path }) => path).filter((path) => path.endsWith(".sqlite"));
  const found = await checkDatabases(databases.map((path) => join(from, path)));
  const newer = found.find(({ schema }) => schema > newestSchema());
  if (newer !== undefined) throw new Remedy(`${newer.file} has schema step ${newer.schema}, this version knows ${newestSchema()}; nothing was changed`);
  // No service may run on the data; the error names one that does.
  const lock = await lockFolder(objects, "none: it restores");
  const partial = join(data, `objects.restoring-${process.pid}`);
  const previous = join(data, `objects.before-${new Date().toISOString().replaceAll(":", "-")}`);
  try {
    mkdirSync(partial, { recursive: true });
    await copyIn(from, manifest, partial);
    await renewKeys(databases.map((path) => join(partial, path.slice("objects/".length))), retiredKeys);
    swap({ objects, partial, previous });
    if (existsSync(join(from, "seeded"))) cpSync(join(from, "seeded"), join(data, "seeded"));
    else rmSync(join(data, "seeded"), { force: true });
    sync(data);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    lock.release();
    throw error;
  }
  // The lock was moved with the previous data.
  rmSync(join(previous, "service.json"), { force: true });
  const hasPrevious = readdirSync(previous).length > 0;
  if (!hasPrevious) rmSync(previous, { recursive: true });
  return { manifest, previous: hasPrevious ? previous : undefined };
}

async function copyIn(from, { files }, partial) {
  const inside = files.filter(({ path }) => path.startsWith("objects/"));
  const folders = new Set([partial]);
  for (const { path, sha256 } of inside) {
    const target = join(partial, path.slice("objects/".length));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(from, path), target);
    sync(target);
    folders.add(dirname(target));
    if ((await sha256Of(target)) !== sha256) throw new Remedy(`${target} is not what was copied there: see the disk; nothing was changed`);
  }
  for (const folder of folders) sync(folder);
}

/** Raises the epoch of each project, after keys that were retired since the archive was made. */
async function renewKeys(files, retiredKeys) {
  const nowMs = Date.now();
  for (const kid of retiredKeys) await retireKey(files, kid, nowMs);
  await raiseEpoch(files, nowMs);
  for (const file of files) sync(file);
}

/** Replaces the old data by the new ones; when that fails the old ones are moved back. */
function swap({ objects, partial, previous }) {
  renameSync(objects, previous);
  try {
    renameSync(partial, objects);
  } catch (error) {
    renameSync(previous, objects);
    throw error;
  }
}

function parseArguments(argumentList) {
  const options = { "retired-key": { type: "string", multiple: true, default: [] } };
  let parsed;
  try {
    parsed = parseArgs({ args: argumentList, options, allowPositionals: true });
  } catch (error) {
    throw new Remedy(error.message);
  }
  const { positionals: [archive, more], values } = parsed;
  if (archive === undefined) throw new Remedy("name the archive: npm run restore -- backups/<moment>");
  if (more !== undefined) throw new Remedy(`\`${more}\` is one archive too many: name one`);
  return { archive, retiredKeys: values["retired-key"] };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    const { archive, retiredKeys } = parseArguments(process.argv.slice(2));
    const data = resolve(root, process.env.SCRIP_DATA ?? ".scrip");
    const { manifest, previous } = await restore({ from: resolve(root, archive), data, retiredKeys });
    print(`${data} is what it was at ${manifest.began}`);
    if (previous) print(`the previous data stay: start the service and check it, then remove ${previous}`);
  });
}
