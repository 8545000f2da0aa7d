// Decides how the calls of a shop's server are shown: what changed something one by one, what was only read once each, newest first.
// It must not know what a call is for.
import { at, button, html, say } from "./elements.js";
import { curl, onCall } from "./shop.js";

const MOST = 30;

/** Shows every call from now on. */
export function start() {
  onCall((made) => {
    const list = at(made.method === "GET" ? "reads" : "writes");
    const title = `${made.method} ${made.target}`;
    if (made.method === "GET") [...list.children].find((item) => item.dataset.title === title)?.remove();
    list.prepend(entry(made, title));
    while (list.children.length > MOST) list.lastElementChild.remove();
    at("read-count").textContent = at("reads").children.length;
  });
}

function entry(made, title) {
  const line = curl(made, location.origin);
  const good = made.status !== undefined && made.status < 400;
  return html("li", { "data-title": title, "data-state": good ? "done" : "failed" },
    html("div", { class: "row between" },
      html("span", { class: "badge" }, `${made.method} · ${made.status ?? "no answer"}`),
      button("Copy", `Copy ${title}`, () => copy(line, title))),
    html("pre", { tabindex: "0", "aria-label": `${title} as curl` }, line));
}

async function copy(line, title) {
  try {
    await navigator.clipboard.writeText(line);
    say("copied", "done", `Copied: ${title}`);
  } catch {
    say("copied", "failed", "The browser does not let this page copy: select the line instead.");
  }
}
