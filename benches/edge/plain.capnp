# A plain JavaScript Worker on plain workerd. The port is given on the command line.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "plain", worker = .plain)],
  sockets = [(name = "http", address = "127.0.0.1:8788", http = (), service = "plain")],
);

const plain :Workerd.Worker = (
  modules = [(name = "plain.mjs", esModule = embed "plain.mjs")],
  compatibilityDate = "2026-04-01",
);
