// Decides what the member's page knows: who the member is, and everything that the service says of their cards. It must not know the
// page's elements, nor compute a point: what is shown was answered.
import { PROGRAM } from "./calls.js";
import { call } from "./shop.js";

const KEPT = "scrip-member";
const CHECKS = 6;
const CHECK_MS = 150;

/** Who the visitor is on this browser: names and ids, and what was done with them; nothing before the first visit. */
export let visitor = readKept();

function readKept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Changes what is kept of the visitor; with nothing, forgets them. */
export function keep(changes) {
  visitor = changes && { ...visitor, ...changes };
  if (visitor) localStorage.setItem(KEPT, JSON.stringify(visitor));
  else localStorage.removeItem(KEPT);
}

/** The program and what is in it, which changes seldom; nothing when there is no such program. */
export async function readProgram() {
  const program = (await call("findProgram")).data[0];
  if (!program) return undefined;
  const [structure] = (await optional("listStructures", { program: program.id }))?.data ?? [];
  const tiers = structure && (await optional("listTiers", { structure: structure.tier_structure_id }))?.data;
  const assigned = (await optional("listProgramRewards", { program: program.id }))?.data ?? [];
  const rewards = await Promise.all(assigned.map(({ reward_id: id }) => optional("showReward", { reward: id })));
  return { ...program, tiers: tiers ?? [], rewards: rewards.filter(Boolean), definitions: new Map() };
}

/** Makes a customer of this name, who is a member of the program then. */
export async function join(program, name) {
  const source_id = visitor?.source_id ?? `member-${crypto.randomUUID()}`;
  // Kept first, so that a second try after a lost answer is about the same customer.
  keep({ name, source_id });
  const customer = await call("createCustomer", {}, { source_id, name });
  const identity = { customer_identification: { type: "customer_id", customer_id: customer.id } };
  try {
    await call("join", { program: program.id }, identity);
  } catch (problem) {
    if (problem.body?.key !== "member_already_exists") throw problem;
  }
  keep({ customer: customer.id });
}

/** The membership as it stands, with lots, waiting points and transactions of each card. */
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

/** What a call says, or nothing when it is refused: its place on the page stays empty, and the call is shown with its status. */
export async function optional(name, names) {
  try {
    return await call(name, names);
  } catch {
    return undefined;
  }
}

/** The transaction of a list as soon as it is decided. */
export async function decided(name, names, transaction) {
  let found = transaction;
  for (let check = 0; check < CHECKS; check += 1) {
    found = (await optional(name, names))?.data?.find(({ id }) => id === transaction.id) ?? found;
    if (found.status !== "PENDING" && found.status !== "PROCESSING") return found;
    await new Promise((done) => setTimeout(done, CHECK_MS));
  }
  return found;
}

export const noProgram = `There is no program "${PROGRAM}" in this project: \`npm start\` makes it in the development project.`;
