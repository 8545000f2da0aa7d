// Shows the calls of a shop's server: writing calls one by one, reading calls once each, newest first.
import { at, button, html, showStatus } from "./elements.js";
import { curl, onCall } from "./server_proxy.js";

const MOST = 30;

/** Shows every call from now on. */
export function start() {
  onCall((record) => {
    const list = at(record.method === "GET" ? "reads" : "writes");
    const title = `${record.method} ${record.target}`;
    if (record.method === "GET") [...list.children].find((item) => item.dataset.title === title)?.remove();
    list.prepend(entry(record, title));
    while (list.children.length > MOST) list.lastElementChild.remove();
    at("read-count").textContent = at("reads").children.length;
  });
}

function entry(record, title) {
  const line = curl(record, location.origin);
  const good = record.status !== undefined && record.status < 400;
  return html("li", { "data-title": title, "data-state": good ? "done" : "failed" },
    html("div", { class: "row between" },
      html("span", { class: "badge" }, `${record.method} · ${record.status ?? "no answer"}`),
      button("Copy", `Copy ${title}`, () => copy(line, title))),
    html("pre", { tabindex: "0", "aria-label": `${title} as curl` }, line));
}

async function copy(line, title) {
  try {
    await navigator.clipboard.writeText(line);
    showStatus("copied", "done", `Copied: ${title}`);
  } catch {
    showStatus("copied", "failed", "The browser does not let this page copy: select the line instead.");
  }
}
