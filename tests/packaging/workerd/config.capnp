using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "built/main.js"),
    (name = "scrip.wasm", wasm = embed "built/scrip.wasm"),
  ],
  compatibilityDate = "2026-04-01",
);
