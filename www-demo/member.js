// Decides when what happens on the member's page: who the visitor is, what is read after each change, which panel shows what.
import * as cards from "./cards.js";
import { PAY_CARD } from "./config.js";
import { at, say } from "./elements.js";
import { join, keep, noProgram, readMembership, readProgram, visitor } from "./membership.js";
import * as orders from "./orders.js";
import * as referral from "./referral.js";
import * as requests from "./requests.js";
import * as rewards from "./rewards.js";
import * as tiers from "./tiers.js";
import * as timeline from "./timeline.js";
import * as waiting from "./waiting.js";
import { failure } from "./words.js";

let program;
let membership;
let turn = 0;

/** Reads the membership and shows all of it; of two at once the later one is shown. */
async function refresh() {
  const own = ++turn;
  const read = await readMembership(program);
  if (own !== turn) return membership;
  membership = read;
  const main = read.cards.find(({ definition }) => definition?.name === PAY_CARD) ?? read.cards[0];
  cards.draw(read.cards);
  timeline.draw(main?.lots ?? [], main?.balance.points ?? 0);
  waiting.draw(read.cards, refresh);
  tiers.draw(program.tiers, read.cards.map(({ progress }) => progress).find((progress) => progress?.tier_structure));
  orders.draw(refresh, () => membership);
  await rewards.draw(read, refresh);
  return read;
}

/** Shows the page of a member, or the question who the visitor is. */
function turnTo(isMember) {
  at("join").hidden = isMember;
  at("member").hidden = !isMember;
  at("leave").hidden = !isMember;
  say("who", isMember ? "done" : "idle", isMember ? `${visitor.name}, member of ${program.name}` : "Nobody yet");
}

async function show() {
  await refresh();
  turnTo(true);
  await referral.draw();
}

async function become(name) {
  say("join-said", "busy", "Joining…");
  at("become").disabled = true;
  try {
    await join(program, name);
    await show();
    say("join-said", "idle", "");
    at("cards-title").focus();
  } catch (problem) {
    say("join-said", "failed", failure(problem));
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
    else say("join-said", "failed", program ? "Say what you are called." : noProgram);
  });
  at("leave").addEventListener("click", () => {
    keep(undefined);
    membership = undefined;
    turnTo(false);
    at("name").focus();
  });
  try {
    program = await readProgram();
    if (!program) say("join-said", "failed", noProgram);
    else if (visitor?.customer) await show();
    else turnTo(false);
    if (program) say("join-said", "idle", "");
  } catch (problem) {
    // Whoever is kept here is not known to this service any more, or the service does not answer.
    if (problem.status === 404 && program) keep(undefined);
    say("who", "failed", "Nobody yet");
    say("join-said", "failed", failure(problem));
  }
  document.body.dataset.ready = "true";
}

start();
