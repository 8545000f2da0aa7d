// Pays orders, with money or with points, returns them, and sends an event. After each, the membership is read again.
import { PAY_CARD } from "./config.js";
import { showCount, showPoints } from "./dates.js";
import { at, button, html, showStatus } from "./elements.js";
import { updateVisitor, visitor, waitForDecision } from "./membership.js";
import { readPrice, show } from "./money.js";
import { tokenOf } from "./customer_tokens.js";
import { intend } from "./service.js";
import { call } from "./server_proxy.js";
import { failure } from "./messages.js";

const MOST = 6;

/** Listens to the form; `shown` returns the current membership, `changed` reads it again and returns it. */
export function start(currentMembership, changed) {
  at("order-form").addEventListener("submit", (event) => {
    event.preventDefault();
    withAmount((amount) => pay(amount, currentMembership, changed));
  });
  at("pay-points").addEventListener("click", () => withAmount((amount) => payWithPoints(amount, currentMembership, changed)));
  at("review").addEventListener("click", () => sendReview(currentMembership, changed));
  at("amount").addEventListener("input", () => at("amount").setAttribute("aria-invalid", String(readPrice(at("amount").value) === undefined)));
}

async function withAmount(act) {
  const amount = readPrice(at("amount").value);
  if (!amount) return showStatus("order-status", "failed", "The amount must be a number like 120.00.");
  const buttons = document.querySelectorAll("#order-form button");
  buttons.forEach((each) => { each.disabled = true; });
  try {
    await act(amount);
  } finally {
    buttons.forEach((each) => { each.disabled = false; });
  }
}

/** Shows the orders of this browser. */
export function draw(changed, currentMembership) {
  const orders = visitor?.orders ?? [];
  at("orders").replaceChildren(...orders.map((order) => html("li", {},
    html("div", {}, html("strong", {}, show(order.amount)), html("p", { class: "hint" }, `${order.id} · ${order.note}`)),
    order.status === "PAID" ? button("Return it", `Return the order of ${show(order.amount)}`, () => returnOrder(order, currentMembership, changed)) : undefined)));
}

const rememberOrder = (order) => updateVisitor({ orders: [order, ...(visitor.orders ?? []).filter(({ id }) => id !== order.id)].slice(0, MOST) });

/** Returns all points of the member, pending ones included. */
const total = (membership) => membership.cards.reduce((sum, { balance }) => sum + balance.points + balance.pending_points, 0);

/** Describes the change of the cards' points. */
function difference(before, after) {
  const points = total(after) - total(before);
  return points === 0 ? "The points stay as they were" : `${points > 0 ? "+" : "−"}${showPoints(Math.abs(points))}`;
}

async function attempt(busy, currentMembership, changed, act) {
  showStatus("order-status", "busy", busy);
  const before = currentMembership();
  try {
    const done = await act();
    const after = await changed();
    showStatus("order-status", "done", `${done} ${difference(before, after)}.`);
  } catch (problem) {
    showStatus("order-status", "failed", failure(problem));
    await changed();
  }
}

function pay(amount, currentMembership, changed) {
  return attempt("Paying…", currentMembership, changed, async () => {
    const order = await call("createOrder", {}, { customer: { source_id: visitor.source_id }, amount, status: "PAID" });
    rememberOrder({ id: order.id, amount, status: "PAID", note: "paid" });
    return `Paid ${show(amount)}.`;
  });
}

function returnOrder(order, currentMembership, changed) {
  return attempt("Returning…", currentMembership, changed, async () => {
    await call("changeOrder", { order: order.id }, { status: "CANCELED" });
    rememberOrder({ ...order, status: "CANCELED", note: "returned" });
    return `Returned ${show(order.amount)}.`;
  });
}

/** Creates an order that is not paid yet, and pays it with the points of the card, up to the balance. */
function payWithPoints(amount, currentMembership, changed) {
  return attempt("Paying with points…", currentMembership, changed, async () => {
    const { names, cards } = currentMembership();
    const card = cards.find(({ definition }) => definition?.name === PAY_CARD) ?? cards[0];
    const order = await call("createOrder", {}, { customer: { source_id: visitor.source_id }, amount, status: "CREATED" });
    rememberOrder({ id: order.id, amount, status: "CREATED", note: "not paid" });
    const { transaction } = await call("payWithPoints", names, { card_id: card.id, order: { id: order.id } });
    const paid = await waitForDecision("listPayments", names, transaction);
    const payment = paid.details?.payment;
    if (paid.status !== "APPROVED" || !payment) return `The points were not taken: ${paid.details?.rejection?.reason ?? paid.status}.`;
    rememberOrder({ id: order.id, amount, status: "CREATED", note: `${show(payment.amount)} of it paid with points` });
    return `${showCount(payment.points_spent)} points paid ${show(payment.amount)} of ${show(amount)}.`;
  });
}

function sendReview(currentMembership, changed) {
  return attempt("Sending the review…", currentMembership, changed, async () => {
    const event = { event: "review_written", customer: { source_id: visitor.source_id }, metadata: { stars: 5 } };
    await intend("/client/v1/events", event, await tokenOf(visitor.source_id));
    return "A review was written.";
  });
}
