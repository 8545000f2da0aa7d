// Shows the member's cards: balance, pending points, the next expiration, lifetime totals, the last transactions. All amounts come from the
// service.
import { showCount, showDate, showPoints } from "./dates.js";
import { at, html } from "./elements.js";

const TOTALS = {
  earned: "earned", added: "added by hand", spent: "spent", refunded: "refunded", returned: "given back", subtracted: "taken off by hand",
  expired: "expired", purchased: "bought", purchased_reversed: "bought and undone", locked: "locked", unlocked: "unlocked",
};

const KINDS = {
  ADMIN_CREDIT: "Added by hand", ADMIN_DEBIT: "Taken off by hand", ADMIN_POINTS_EXPIRATION: "Expired by hand", POINTS_EARNED: "Earned",
  POINTS_SPENT_ON_REWARD: "Spent on a reward", POINTS_SPENT_ON_ORDER: "Paid an order", POINTS_PURCHASED: "Bought",
  POINTS_PURCHASE_REVERSED: "Purchase undone", POINTS_REFUNDED: "Refunded", POINTS_RETURNED: "Given back", POINTS_EXPIRED: "Expired",
  PENDING_POINTS_ADDED: "Waiting", PENDING_POINTS_ACTIVATED: "Arrived", PENDING_POINTS_CANCELED: "Waited in vain",
};

/** Shows every card. */
export function draw(cards) {
  at("cards").replaceChildren(...cards.map(plastic));
  const rows = cards.flatMap(({ definition, transactions }) => transactions.map((each) => ({ ...each, card: definition?.name })))
    .sort((one, other) => other.created_at.localeCompare(one.created_at)).slice(0, 10);
  at("transactions").replaceChildren(...rows.map((each) => html("li", {},
    html("span", {}, KINDS[each.type] ?? each.type),
    html("strong", {}, showPoints(Math.abs(each.details?.points?.total ?? 0))),
    html("span", { class: "hint" }, [each.card, each.status === "APPROVED" ? undefined : each.status, showDate(each.created_at)].filter(Boolean).join(" · ")))));
  at("no-transactions").hidden = rows.length > 0;
}

function plastic({ definition, code, balance, lifetime_bucket: lifetime, next_expiration: expiration, next_activation: arrival }) {
  const name = definition?.name ?? "Card";
  const totals = [
    ["points that ever came", lifetime.points.total],
    ...Object.entries(TOTALS).map(([name, label]) => [label, lifetime.points[name] ?? 0]),
    ["ever waiting", lifetime.pending_points.total],
  ].filter(([label, count], index) => index === 0 || count !== 0 || label === "spent");
  return html("article", { class: "plastic", "aria-label": name },
    html("div", { class: "row between" }, html("h3", {}, name), html("span", { class: "code" }, code ?? "no code")),
    html("p", { class: "balance" }, html("strong", {}, showCount(balance.points)), balance.points === 1 ? " point" : " points"),
    html("p", { class: "next" }, [
      balance.pending_points > 0 ? `${showPoints(balance.pending_points)} waiting` : "Nothing waiting",
      arrival?.date && `${showPoints(arrival.points)} arrive on ${showDate(arrival.date)}`,
      expiration?.date && `${showPoints(expiration.points)} expire after ${showDate(expiration.date)}`,
    ].filter(Boolean).join(" · ")),
    html("details", { open: "" }, html("summary", {}, "In all this time"),
      html("dl", { class: "figures" }, ...totals.map(([label, count]) => html("div", {}, html("dt", {}, label), html("dd", {}, showCount(count)))))));
}
