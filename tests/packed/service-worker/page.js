// Registers the service worker of the type that the address names, and takes the result from it.
const type = new URLSearchParams(location.search).get("type");

window.result = new Promise((done, failed) => {
  navigator.serviceWorker.addEventListener("message", ({ data }) => (data.error ? failed(new Error(data.error)) : done(data.result)));
  // Messages wait until a page has read its document, unless it asks for them.
  navigator.serviceWorker.startMessages();
  navigator.serviceWorker.register(`/${type}.js`, { type })
    .then(({ installing, waiting, active }) => (installing ?? waiting ?? active).postMessage("decide"))
    .catch(failed);
});
