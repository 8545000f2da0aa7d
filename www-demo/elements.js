// Decides how the member's page makes elements: of HTML and of SVG, from attributes, listeners and children. It must not know what they show.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

/** An element of HTML; an attribute that is a function listens. */
export const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** An element of SVG. */
export const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** The element of the page with an id. */
export const at = (id) => document.querySelector(`#${id}`);

/** Says something in a place of the page that is read out: `busy`, `done` or `failed`. */
export function say(id, state, text) {
  at(id).dataset.state = state;
  at(id).textContent = text;
}

/** A button that is shut while what it does is under way. */
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
