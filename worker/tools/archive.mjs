// Writes and checks archives. An archive is a folder of complete databases with a manifest of their sizes, hashes and schema steps.
import { createHash } from "node:crypto";
import { closeSync, createReadStream, existsSync, fsyncSync, lstatSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Remedy, root } from "./console.mjs";

const MANIFEST = "manifest.json";
/** The format of the manifest. This version cannot read a higher one. */
const FORMAT = 1;

/** Returns the newest schema step that this version knows. */
export function newestSchema() {
  return Number(readFileSync(join(root, "worker/src/store/schema/version.txt"), "utf8"));
}

/** Returns the versions of Scrip and workerd. */
export function versions() {
  const [, scrip] = /\[workspace\.package\]\s+version = "(.*?)"/.exec(readFileSync(join(root, "Cargo.toml"), "utf8"));
  const { workerd } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).devDependencies;
  return { scrip, workerd };
}

/** Writes the manifest of a folder whose files are present; `files` are `[{ path, schema }]`. All of it is on the disk afterwards. */
export async function seal(folder, { began, files }) {
  const sealed = [];
  for (const { path, schema } of files) {
    const fullPath = join(folder, path);
    sync(fullPath);
    sealed.push({ path, bytes: statSync(fullPath).size, sha256: await sha256Of(fullPath), schema });
  }
  const schema = Math.max(0, ...files.map((file) => file.schema ?? 0));
  const manifest = { format: FORMAT, ...versions(), schema, began, ended: new Date().toISOString(), files: sealed };
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const path of [MANIFEST, ...new Set(files.map(({ path }) => dirname(path))), "."]) sync(join(folder, path));
  return manifest;
}

/**
 * Reads the manifest of an archive and checks the archive against it. No file may be missing, added or changed, and no schema step may be
 * newer than this version.
 */
export async function unseal(folder) {
  const manifest = readManifest(folder);
  const { format, scrip, schema, files } = manifest;
  if (format !== FORMAT) throw brokenArchive(folder, `its manifest has format \`${format}\`, this version reads ${FORMAT}`);
  if (schema > newestSchema()) {
    throw new Remedy(`the archive ${folder} is newer than this version: Scrip ${scrip} wrote it with schema step ${schema}, this one knows ${newestSchema()}; restore it with the version that wrote it or a later one`);
  }
  const found = filesOf(folder).filter((path) => path !== MANIFEST);
  const listed = new Set(files.map(({ path }) => path));
  const extra = found.find((path) => !listed.has(path));
  if (extra !== undefined) throw brokenArchive(folder, `\`${extra}\` is no part of it`);
  for (const { path, bytes, sha256 } of files) {
    // Every path of the manifest lies inside the archive: only such files were found.
    if (!found.includes(path)) throw brokenArchive(folder, `\`${path}\` is missing`);
    const { size } = statSync(join(folder, path));
    if (size !== bytes) throw brokenArchive(folder, `\`${path}\` has ${size} bytes and not ${bytes}`);
    if ((await sha256Of(join(folder, path))) !== sha256) throw brokenArchive(folder, `\`${path}\` was changed: its SHA-256 is another one`);
  }
  return manifest;
}

function readManifest(folder) {
  if (!existsSync(join(folder, MANIFEST))) throw new Remedy(`${folder} is no archive: it has no ${MANIFEST}`);
  try {
    const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), "utf8"));
    const isWellFormed = Array.isArray(manifest.files) && manifest.files.every(({ path }) => typeof path === "string");
    if (isWellFormed && Number.isInteger(manifest.schema)) return manifest;
  } catch {
    // Reported below.
  }
  throw brokenArchive(folder, `its ${MANIFEST} cannot be read`);
}

function brokenArchive(folder, what) {
  return new Remedy(`the archive ${folder} is broken: ${what}; nothing was changed`);
}

/** Returns the paths of the files in a folder and its subfolders. */
function filesOf(folder, within = "") {
  return readdirSync(join(folder, within)).sort().flatMap((name) => {
    const path = within === "" ? name : `${within}/${name}`;
    const found = lstatSync(join(folder, path));
    if (found.isDirectory()) return filesOf(folder, path);
    if (!found.isFile()) throw brokenArchive(folder, `\`${path}\` is no file`);
    return [path];
  });
}

/** Flushes a file, or the entries of a folder, to the disk. */
export function sync(path) {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Returns the SHA-256 of a file, in hexadecimal digits. */
export function sha256Of(path) {
  return new Promise((done, failed) => {
    const hash = createHash("sha256");
    createReadStream(path).on("error", failed).on("data", (chunk) => hash.update(chunk)).on("end", () => done(hash.digest("hex")));
  });
}
