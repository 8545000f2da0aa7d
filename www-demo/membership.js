// Holds the data of the member's page: the visitor, and the cards as the service reports them. It computes no points.
import { PROGRAM } from "./server_calls.js";
import { call } from "./server_proxy.js";

const STORAGE_KEY = "scrip-member";
const CHECKS = 6;
const CHECK_MS = 150;

/** The visitor of this browser: names and ids, and their actions; undefined before the first visit. */
export let visitor = readVisitor();

function readVisitor() {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY)) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Changes the stored visitor; without changes, deletes it. */
export function updateVisitor(changes) {
  visitor = changes && { ...visitor, ...changes };
  if (visitor) localStorage.setItem(STORAGE_KEY, JSON.stringify(visitor));
  else localStorage.removeItem(STORAGE_KEY);
}

/** Reads the program with its parts, which change seldom; returns undefined when there is no such program. */
export async function readProgram() {
  const program = (await call("findProgram")).data[0];
  if (!program) return undefined;
  const [structure] = (await optional("listStructures", { program: program.id }))?.data ?? [];
  const tiers = structure && (await optional("listTiers", { structure: structure.tier_structure_id }))?.data;
  const assigned = (await optional("listProgramRewards", { program: program.id }))?.data ?? [];
  const rewards = await Promise.all(assigned.map(({ reward_id: id }) => optional("showReward", { reward: id })));
  return { ...program, tiers: tiers ?? [], rewards: rewards.filter(Boolean), definitions: new Map() };
}

/** Creates a customer of this name and makes them a member of the program. */
export async function join(program, name) {
  const source_id = visitor?.source_id ?? `member-${crypto.randomUUID()}`;
  // Stored first, so that a second try after a lost answer is about the same customer.
  updateVisitor({ name, source_id });
  const customer = await call("createCustomer", {}, { source_id, name });
  const identity = { customer_identification: { type: "customer_id", customer_id: customer.id } };
  try {
    await call("join", { program: program.id }, identity);
  } catch (problem) {
    if (problem.body?.key !== "member_already_exists") throw problem;
  }
  updateVisitor({ customer: customer.id });
}

/** Reads the current membership, with lots, pending points and transactions of each card. */
export async function readMembership(program) {
  const membership = await call("showMembership", { program: program.id, customer: visitor.customer });
  const member = membership.member.id;
  const cards = await Promise.all(membership.cards.map(async ({ card, tier_progress: progress }) => {
    const names = { program: program.id, member, card: card.id };
    const [lots, pending, transactions] = await Promise.all(["listLots", "listPending", "listTransactions"].map((name) => optional(name, names)));
    const definition = await definitionOf(program, card.card_definition_id);
    return { ...card, names, definition, progress, lots: lots?.data ?? [], pending: pending?.data ?? [], transactions: transactions?.data ?? [] };
  }));
  return { program, member, names: { program: program.id, member }, cards };
}

async function definitionOf({ definitions }, id) {
  if (!definitions.has(id)) definitions.set(id, await optional("showDefinition", { definition: id }));
  return definitions.get(id);
}

/**
 * Returns the answer of a call, or undefined when it is refused. Its part of the page then stays empty, and the call is shown with its
 * status.
 */
export async function optional(name, names) {
  try {
    return await call(name, names);
  } catch {
    return undefined;
  }
}

/** Returns a transaction of a list as soon as it is decided. */
export async function waitForDecision(name, names, transaction) {
  let found = transaction;
  for (let check = 0; check < CHECKS; check += 1) {
    found = (await optional(name, names))?.data?.find(({ id }) => id === transaction.id) ?? found;
    if (found.status !== "PENDING" && found.status !== "PROCESSING") return found;
    await new Promise((done) => setTimeout(done, CHECK_MS));
  }
  return found;
}

export const noProgram = `There is no program "${PROGRAM}" in this project: \`npm start\` makes it in the development project.`;
