// Makes the elements of the member's page, HTML and SVG, from attributes, listeners and children.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

/** Makes an element of HTML; an attribute that is a function becomes a listener. */
export const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** Makes an element of SVG. */
export const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Returns the element of the page with an id. */
export const at = (id) => document.querySelector(`#${id}`);

/** Shows a message in a live region of the page: `busy`, `done` or `failed`. */
export function showStatus(id, state, text) {
  at(id).dataset.state = state;
  at(id).textContent = text;
}

/** Makes a button that is disabled while its action runs. */
export function button(text, name, act, look = "quiet") {
  return html("button", {
    type: "button", class: look, "aria-label": name,
    async click({ currentTarget }) {
      currentTarget.disabled = true;
      try {
        await act();
      } finally {
        currentTarget.disabled = false;
      }
    },
  }, text);
}
