// Gets the tokens that prove to the service who the customer is. A shop's own server makes them for the customer who has logged in. Here the
// local service makes them, for the development project. Where no server does, the customer is only named.
import { patience, send } from "./service.js";

// A token is not used until its very end, because the request takes time.
const SPARE_MS = 30_000;
const tokens = new Map();

/** Returns the token of a customer that is here already. */
export function knownToken(customer) {
  const known = tokens.get(customer);
  return known?.until > Date.now() ? known.token : undefined;
}

/** Returns the token of a customer; nothing where there is no customer or no server. */
export async function tokenOf(customer) {
  if (!customer) return undefined;
  const known = knownToken(customer);
  if (known) return known;
  const headers = { "Content-Type": "application/json" };
  const options = { method: "POST", headers, body: JSON.stringify({ source_id: customer }), signal: patience() };
  const response = await send("/demo/customer-token", options).catch(() => undefined);
  if (!response?.ok) return undefined;
  const { token, expires_at: end } = await response.json();
  tokens.set(customer, { token, until: Date.parse(end) - SPARE_MS });
  return token;
}
