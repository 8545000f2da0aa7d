// Decides what `npm run restore` does: it puts an archive of `npm run backup` where a service finds its data. It must not know what is in it.
//
// npm run restore -- <archive>
//
// Everything is looked at and copied beside the data first; then two folders change their names. What was there before is kept.
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { newestSchema, sha256Of, sync, unseal } from "./archive.mjs";
import { checkDatabases } from "./copier.mjs";
import { lockFolder } from "./lock.mjs";
import { main, Remedy, root, say } from "./say.mjs";

/** Puts the archive `from` into the data folder `data`; gives `{ manifest, kept }`, `kept` being where the data is that was there before. */
export async function restore({ from, data }) {
  const objects = join(data, "objects");
  const manifest = await unseal(from);
  const databases = manifest.files.map(({ path }) => path).filter((path) => path.endsWith(".sqlite"));
  const found = await checkDatabases(databases.map((path) => join(from, path)));
  const newer = found.find(({ schema }) => schema > newestSchema());
  if (newer !== undefined) throw new Remedy(`${newer.file} has schema step ${newer.schema}, this version knows ${newestSchema()}; nothing was changed`);
  // Nobody may serve what is about to go; whoever does is named.
  const lock = await lockFolder(objects, "none: it restores");
  const partial = join(data, `objects.restoring-${process.pid}`);
  const kept = join(data, `objects.before-${new Date().toISOString().replaceAll(":", "-")}`);
  try {
    mkdirSync(partial, { recursive: true });
    await copyIn(from, manifest, partial);
    swap({ objects, partial, kept });
    if (existsSync(join(from, "seeded"))) cpSync(join(from, "seeded"), join(data, "seeded"));
    else rmSync(join(data, "seeded"), { force: true });
    sync(data);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    lock.release();
    throw error;
  }
  // The lock went with what was there before.
  rmSync(join(kept, "service.json"), { force: true });
  const had = readdirSync(kept).length > 0;
  if (!had) rmSync(kept, { recursive: true });
  return { manifest, kept: had ? kept : undefined };
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

/** The new data take the place of the old ones; when that fails the old ones have it again. */
function swap({ objects, partial, kept }) {
  renameSync(objects, kept);
  try {
    renameSync(partial, objects);
  } catch (error) {
    renameSync(kept, objects);
    throw error;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    const [, , archive] = process.argv;
    if (archive === undefined) throw new Remedy("name the archive: npm run restore -- backups/<moment>");
    const data = resolve(root, process.env.SCRIP_DATA ?? ".scrip");
    const { manifest, kept } = await restore({ from: resolve(root, archive), data });
    say(`${data} is what it was at ${manifest.began}`);
    if (kept) say(`what was there before is kept: start the service and look, then remove ${kept}`);
  });
}
