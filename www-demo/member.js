// Runs the member's page: it identifies the visitor, reads the membership after each change, and fills the panels.
import * as cards from "./cards.js";
import { PAY_CARD } from "./config.js";
import { at, showStatus } from "./elements.js";
import { join, noProgram, readMembership, readProgram, updateVisitor, visitor } from "./membership.js";
import * as orders from "./orders.js";
import * as referral from "./referral.js";
import * as requests from "./requests.js";
import * as rewards from "./rewards.js";
import * as tiers from "./tiers.js";
import * as timeline from "./timeline.js";
import * as pendingPoints from "./pending_points.js";
import { failure } from "./messages.js";

let program;
let membership;
let turn = 0;

/** Reads the membership and shows all of it; of two reads at once the later one is shown. */
async function refresh() {
  const own = ++turn;
  const read = await readMembership(program);
  if (own !== turn) return membership;
  membership = read;
  const main = read.cards.find(({ definition }) => definition?.name === PAY_CARD) ?? read.cards[0];
  cards.draw(read.cards);
  timeline.draw(main?.lots ?? [], main?.balance.points ?? 0);
  pendingPoints.draw(read.cards, refresh);
  tiers.draw(program.tiers, read.cards.map(({ progress }) => progress).find((progress) => progress?.tier_structure));
  orders.draw(refresh, () => membership);
  await rewards.draw(read, refresh);
  return read;
}

/** Shows the page of a member, or the form for a name. */
function showMemberPage(isMember) {
  at("join").hidden = isMember;
  at("member").hidden = !isMember;
  at("leave").hidden = !isMember;
  showStatus("who", isMember ? "done" : "idle", isMember ? `${visitor.name}, member of ${program.name}` : "No member yet");
}

async function show() {
  await refresh();
  showMemberPage(true);
  await referral.draw();
}

async function become(name) {
  showStatus("join-status", "busy", "Joining…");
  at("become").disabled = true;
  try {
    await join(program, name);
    await show();
    showStatus("join-status", "idle", "");
    at("cards-title").focus();
  } catch (problem) {
    showStatus("join-status", "failed", failure(problem));
  }
  at("become").disabled = false;
}

async function start() {
  requests.start();
  timeline.start();
  tiers.start();
  orders.start(() => membership, refresh);
  referral.start(() => membership, refresh);
  at("join-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = at("name").value.trim();
    if (name && program) become(name);
    else showStatus("join-status", "failed", program ? "Say what you are called." : noProgram);
  });
  at("leave").addEventListener("click", () => {
    updateVisitor(undefined);
    membership = undefined;
    showMemberPage(false);
    at("name").focus();
  });
  try {
    program = await readProgram();
    if (!program) showStatus("join-status", "failed", noProgram);
    else if (visitor?.customer) await show();
    else showMemberPage(false);
    if (program) showStatus("join-status", "idle", "");
  } catch (problem) {
    // The stored visitor is not known to this service any more, or the service does not answer.
    if (problem.status === 404 && program) updateVisitor(undefined);
    showStatus("who", "failed", "No member yet");
    showStatus("join-status", "failed", failure(problem));
  }
  document.body.dataset.ready = "true";
}

start();
