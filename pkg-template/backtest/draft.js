// The draft of a campaign: its documents, joined to the rules under which it is tried.
import { startOf } from "./moments.js";

const REDEEMABLES_MAX = 30;
const DATES = ["start_date", "expiration_date"];
const LISTS = [
  "campaigns", "promotion_tiers", "vouchers", "validation_rules", "validation_rules_assignments", "categories", "product_collections", "segments",
];

/** Returns the rules with the documents of a draft, its redeemables, the latest of its starts, or 0, and the texts of its dates. What is none of its documents is named. */
export function draftOf(rules, draft) {
  const read = readRules(rules);
  if (!isObject(draft)) throw new TypeError(`draft must be an object (actual value is \`${JSON.stringify(draft)}\`)`);
  const joined = { ...read };
  const zone = read.time_zone?.name ?? read.time_zone ?? "UTC";
  const dates = new Set();
  let start = 0;
  for (const [name, given] of Object.entries(draft)) {
    if (!LISTS.includes(name)) throw new TypeError(`draft.${name} is not allowed; a draft has ${LISTS.join(", ")}`);
    const documents = listOf(given, `draft.${name}`);
    const former = joined[name] === undefined || joined[name] === null ? [] : listOf(joined[name], `rules.${name}`);
    checkNew(name, former, documents);
    for (const document of documents) {
      start = Math.max(start, startOf(document.start_date, zone) ?? 0);
      for (const field of DATES) if (document[field]) dates.add(`${field} ${document[field]}`);
    }
    joined[name] = [...former, ...documents];
  }
  const of = (name, object, id) => listOf(draft[name] ?? [], name).map((document) => ({ object, id: id(document) }));
  const redeemables = [
    ...of("promotion_tiers", "promotion_tier", ({ id }) => id), ...of("vouchers", "voucher", ({ code, id }) => code ?? id),
  ];
  if (redeemables.length === 0 || redeemables.length > REDEEMABLES_MAX) {
    throw new TypeError(`draft must have 1 to ${REDEEMABLES_MAX} promotion_tiers and vouchers (actual value is \`${redeemables.length}\`)`);
  }
  return { joined, redeemables, start, dates: [...dates] };
}

function readRules(rules) {
  const isText = typeof rules === "string";
  if (!isText && !ArrayBuffer.isView(rules) && isObject(rules)) return rules;
  try {
    const read = JSON.parse(isText ? rules : new TextDecoder().decode(rules));
    if (isObject(read)) return read;
  } catch {
    // Refused below.
  }
  throw new TypeError("rules must be JSON text of an object, its UTF-8 bytes, or a plain object");
}

/** Refuses a document that the rules have already: one of two would decide unnoticed. */
function checkNew(name, former, documents) {
  const names = new Set(former.flatMap(({ id, code }) => [id, code]).filter((known) => known !== undefined));
  documents.forEach((document, at) => {
    if (!isObject(document)) throw new TypeError(`draft.${name}[${at}] must be an object (actual value is \`${JSON.stringify(document)}\`)`);
    const { id, code } = document;
    if (id === undefined && name !== "validation_rules_assignments") throw new TypeError(`draft.${name}[${at}] should have required property 'id'`);
    for (const known of [id, code].filter((one) => one !== undefined)) {
      if (names.has(known)) throw new TypeError(`draft.${name}[${at}] has the name \`${known}\` of another one`);
    }
    [id, code].forEach((one) => names.add(one));
    names.delete(undefined);
  });
}

function listOf(given, path) {
  const list = Array.isArray(given) ? given : given?.[given.data_ref ?? "data"];
  if (!Array.isArray(list)) throw new TypeError(`${path} must be an array (actual value is \`${JSON.stringify(given)}\`)`);
  return list;
}

const isObject = (value) => Object.prototype.toString.call(value) === "[object Object]";
