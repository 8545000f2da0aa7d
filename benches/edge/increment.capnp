# The bare increment on plain workerd. Port and folder are given on the command line.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "increment", worker = .increment),
    (name = "objects", disk = (path = "objects", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8788", http = (), service = "increment")],
);

const increment :Workerd.Worker = (
  modules = [(name = "increment.mjs", esModule = embed "increment.mjs")],
  compatibilityDate = "2026-04-01",
  durableObjectNamespaces = [(className = "Counter", uniqueKey = "scrip-bench-counter", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [(name = "COUNTER", durableObjectNamespace = "Counter")],
);
