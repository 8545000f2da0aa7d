// Writes the configuration with which plain workerd runs the built Worker. Ports, folders and secrets are given when it starts.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const COMPATIBILITY_DATE = "2026-04-01";

// In development webhooks may go to the local machine. Otherwise workerd's own network lets no request out to private addresses.
const LOCAL_NETWORK = `
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),`;
const LOCAL_BINDING = `
    (name = "SCRIP_LOCAL", text = "true"),`;

const config = (local) => `# Written by worker/tools/config.mjs; do not edit.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "scrip", worker = .scrip),
    (name = "kv", worker = .kv),
    (name = "objects", disk = (path = "objects", writable = true)),
    (name = "assets", disk = (path = "assets")),${local ? LOCAL_NETWORK : ""}
  ],
  sockets = [(name = "http", address = "127.0.0.1:8787", http = (), service = "scrip")],
);

const scrip :Workerd.Worker = (
  modules = [
    (name = "index.mjs", esModule = embed "modules/index.mjs"),
    (name = "index_bg.wasm", wasm = embed "modules/index_bg.wasm"),
  ],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  durableObjectNamespaces = [
    (className = "Project", uniqueKey = "scrip-project", enableSql = true),
    (className = "Directory", uniqueKey = "scrip-directory", enableSql = true),
    (className = "Gate", uniqueKey = "scrip-gate", enableSql = true),
    (className = "Feed", uniqueKey = "scrip-feed", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [
    (name = "PROJECT", durableObjectNamespace = "Project"),
    (name = "DIRECTORY", durableObjectNamespace = "Directory"),
    (name = "GATE", durableObjectNamespace = "Gate"),
    (name = "FEED", durableObjectNamespace = "Feed"),
    (name = "KV", kvNamespace = "kv"),
    (name = "ASSETS", service = "assets"),
    (name = "DISK", service = "objects"),
    (name = "SCRIP_SETUP", fromEnvironment = "SCRIP_SETUP"),
    (name = "SCRIP_EDGE_SECRET", fromEnvironment = "SCRIP_EDGE_SECRET"),
    (name = "SCRIP_METRICS_TOKEN", fromEnvironment = "SCRIP_METRICS_TOKEN"),${local ? LOCAL_BINDING : ""}
  ],
);

const kv :Workerd.Worker = (
  modules = [(name = "kv.mjs", esModule = embed "modules/kv.mjs")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  durableObjectNamespaces = [(className = "Pairs", uniqueKey = "scrip-kv", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [(name = "PAIRS", durableObjectNamespace = "Pairs")],
);
`;

/** Writes the configuration next to a built Worker, with `local` for development; returns its path. */
export function writeConfig(built, { local = false } = {}) {
  const path = join(built, local ? "workerd.capnp" : "workerd-open.capnp");
  writeFileSync(path, config(local));
  return path;
}

/** Returns the arguments of the command line: the address, the folder of the objects and the folder of the files. */
export function serveFlags({ address, data, assets }) {
  return [`--socket-addr=http=${address}`, `--directory-path=objects=${data}`, `--directory-path=assets=${assets}`];
}
