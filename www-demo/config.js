// Configures the service and the project of this page. A client key is public: it names the project, it is bound to origins, and the client
// policy of the project limits it.

export const SERVICE = "";

export const CREDENTIALS = { id: "dev-client", token: "dev-client-token" };

export const CURRENCY = "EUR";

/** The initial cart of a visitor; prices in minor units (cents). */
export const CART = [
  { name: "Linen shirt", price: 4900, quantity: 1 },
  { name: "Enamel mug", price: 1450, quantity: 2 },
  { name: "Field notebook", price: 890, quantity: 3 },
];

/** The objects that the visitor can try, as a local start seeds them. */
export const TRY = {
  codes: ["WELCOME10", "NO-SUCH-CODE"],
  campaign: "Newsletter",
  customer: "visitor-1",
  friends: "Friends",
};

/** The card whose lots are drawn and whose points pay, by the name of its definition. */
export const PAY_CARD = "Club points";
