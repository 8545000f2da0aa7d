// Keeps the codes of the cart: the entered ones, and the one that is being typed.
import { TRY } from "./config.js";

const entered = [];
const input = document.querySelector("#code");
const chips = document.querySelector("#chips");
let changed = () => {};

/** Returns the codes in their order, the half-typed one last. */
export function codes() {
  const typed = input.value.trim();
  return typed && !entered.includes(typed) ? [...entered, typed] : [...entered];
}

/** Adds a code as if it had been typed and entered. */
export function enter(code) {
  const text = code.trim();
  if (text && !entered.includes(text)) entered.push(text);
  draw();
  changed();
}

export function start(onChange) {
  changed = onChange;
  input.addEventListener("input", changed);
  document.querySelector("#code-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = input.value;
    input.value = "";
    enter(typed);
  });
  document.querySelector("#offers").append(...TRY.codes.map(button));
}

/** Returns a button that enters a code. */
export function button(code) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "offer";
  made.textContent = code;
  made.addEventListener("click", () => enter(code));
  return made;
}

function draw() {
  chips.replaceChildren(...entered.map((code) => {
    const chip = document.createElement("li");
    const text = document.createElement("span");
    text.textContent = code;
    const remove = document.createElement("button");
    remove.type = "button";
    remove.textContent = "×";
    remove.setAttribute("aria-label", `Take ${code} off`);
    remove.addEventListener("click", () => {
      entered.splice(entered.indexOf(code), 1);
      draw();
      input.focus();
      changed();
    });
    chip.append(text, remove);
    return chip;
  }));
}
