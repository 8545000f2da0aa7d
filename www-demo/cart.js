// Shows and edits the lines of the cart.
import { CART } from "./config.js";
import { readPrice, readQuantity, show, writePrice } from "./money.js";

const lines = CART.map((line) => ({ ...line, id: crypto.randomUUID() }));
const list = document.querySelector("#lines");
const template = document.querySelector("#line");
let changed = () => {};

/** Returns the cart as the items of an order; undefined while a field is no number. */
export function items() {
  if (lines.some((line) => line.price === undefined || line.quantity === undefined)) return undefined;
  return lines.map(({ name, price, quantity }) => ({
    source_id: name.trim().toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-") || "item",
    related_object: "product", quantity, price, product: { name },
  }));
}

/** Returns the price of the cart before any code. */
export function amount() {
  return lines.reduce((sum, { price = 0, quantity = 0 }) => sum + price * quantity, 0);
}

/** Shows the lines and calls `onChange` after every edit. */
export function start(onChange) {
  changed = onChange;
  for (const line of lines) list.append(element(line));
  document.querySelector("#add-line").addEventListener("click", () => {
    const line = { id: crypto.randomUUID(), name: `Item ${lines.length + 1}`, price: 1000, quantity: 1 };
    lines.push(line);
    const item = list.appendChild(element(line));
    item.querySelector(".name").select();
    changed();
  });
}

function element(line) {
  const item = template.content.firstElementChild.cloneNode(true);
  const part = (name) => item.querySelector(`.${name}`);
  const [name, price, quantity] = [part("name"), part("price"), part("quantity")];
  name.value = line.name;
  price.value = writePrice(line.price);
  quantity.value = line.quantity;

  const label = () => {
    const called = line.name || "this line";
    name.setAttribute("aria-label", `Name of ${called}`);
    price.setAttribute("aria-label", `Price of ${called}`);
    quantity.setAttribute("aria-label", `Quantity of ${called}`);
    part("less").setAttribute("aria-label", `One ${called} less`);
    part("more").setAttribute("aria-label", `One ${called} more`);
    part("remove").setAttribute("aria-label", `Remove ${called}`);
  };
  const refresh = () => {
    price.setAttribute("aria-invalid", String(line.price === undefined));
    quantity.setAttribute("aria-invalid", String(line.quantity === undefined));
    part("total").textContent = show((line.price ?? 0) * (line.quantity ?? 0));
    part("less").disabled = line.quantity === 1;
    label();
    changed();
  };
  const step = (by) => {
    line.quantity = Math.min(999, Math.max(1, (line.quantity ?? 1) + by));
    quantity.value = line.quantity;
    refresh();
  };
  name.addEventListener("input", () => { line.name = name.value; refresh(); });
  price.addEventListener("input", () => { line.price = readPrice(price.value); refresh(); });
  quantity.addEventListener("input", () => { line.quantity = readQuantity(quantity.value); refresh(); });
  quantity.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by) event.preventDefault();
    if (by) step(by);
  });
  part("less").addEventListener("click", () => step(-1));
  part("more").addEventListener("click", () => step(1));
  part("remove").addEventListener("click", () => {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    lines.splice(lines.indexOf(line), 1);
    item.remove();
    (next?.querySelector(".remove") ?? document.querySelector("#add-line")).focus();
    changed();
  });
  part("total").textContent = show(line.price * line.quantity);
  part("less").disabled = line.quantity === 1;
  label();
  return item;
}
