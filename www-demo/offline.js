// The service worker of the pages: it keeps their files, and gives them to a page where the network does not. Calls of the service are not its own.
const CACHE = "scrip-demo";
const FILES = /^\/([\w-]+\.(html|css|js|svg)|pkg\/[\w.-]+)?$/;

const isFile = (url) => new URL(url).origin === location.origin && FILES.test(new URL(url).pathname);

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

// A page sends the addresses of what it has loaded before it had this worker.
self.addEventListener("message", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll([...new Set(event.data.filter(isFile))])));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && isFile(request.url)) event.respondWith(answer(request));
});

/** Answers from the network, and from the cache where the service does not answer. */
async function answer(request) {
  const cache = await caches.open(CACHE);
  const response = await fetch(request).catch(() => undefined);
  if (response?.ok) await cache.put(request, response.clone());
  if (response && response.status < 500) return response;
  return (await cache.match(request)) ?? response ?? Response.error();
}
