// Expands the cases of tests/load/worst.json.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../worker/tools/console.mjs";

/** Returns the worst request of each kind: `{ name, before, request, status, expected }`, calls as `[method, target, body]`. */
export const cases = JSON.parse(readFileSync(join(root, "tests/load/worst.json"), "utf8")).cases;

/**
 * Expands the loops of a template: `{"$times": 3, "of": …}` is a list, `{"$keys": 3, "name": …, "of": …}` an object and `{"$text": "ab",
 * "times": 3}` a text. `{n}`, or the name in `as`, is the index.
 */
export function writtenOut(template, turns = []) {
  const fill = (text) => turns.reduce((filled, [name, turn]) => filled.replaceAll(`{${name}}`, turn), text);
  if (typeof template === "string") return fill(template);
  if (Array.isArray(template)) return template.map((item) => writtenOut(item, turns));
  if (template === null || typeof template !== "object") return template;
  const each = (count) => Array.from({ length: count }, (_, turn) => [...turns, [template.as ?? "n", turn]]);
  if ("$times" in template) return each(template.$times).map((now) => writtenOut(template.of, now));
  if ("$keys" in template) {
    return Object.fromEntries(each(template.$keys).map((now) => [writtenOut(template.name, now), writtenOut(template.of, now)]));
  }
  if ("$text" in template) return fill(template.$text).repeat(template.times);
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [fill(name), writtenOut(value, turns)]));
}
