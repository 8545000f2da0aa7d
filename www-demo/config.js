// Decides which service and which project this page talks to. A client key is public by nature: it names the project,
// it is bound to origins, and it can only do what the project allows to pages.

export const SERVICE = "";

export const CREDENTIALS = { id: "dev-client", token: "dev-client-token" };

export const CURRENCY = "EUR";

/** The cart that a visitor finds; prices in minor units (cents). */
export const CART = [
  { name: "Linen shirt", price: 4900, quantity: 1 },
  { name: "Enamel mug", price: 1450, quantity: 2 },
  { name: "Field notebook", price: 890, quantity: 3 },
];

/** What the visitor can try, as a local start seeds it. */
export const TRY = {
  codes: ["WELCOME10", "NO-SUCH-CODE"],
  campaign: "Newsletter",
  customer: "visitor-1",
  friends: "Friends",
};

/** The card whose lots are drawn and whose points pay, by the name of its definition. */
export const PAY_CARD = "Club points";
