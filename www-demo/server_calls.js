// Lists the calls of a shop's own server that the member's page needs. The page shows them as it makes them, and the local proxy forwards
// these and no others. `{...}` is one name that the page fills in.

/** The name of the program that a local start seeds. */
export const PROGRAM = "Club";

const MEMBER = "/v2/loyalties/programs/{program}/members/{member}";
const CARD = `${MEMBER}/cards/{card}`;

export const CALLS = {
  findProgram: { method: "GET", path: `/v2/loyalties/programs?limit=1&filters[name][conditions][$is]=${PROGRAM}` },
  showDefinition: { method: "GET", path: "/v2/loyalties/card-definitions/{definition}" },
  listStructures: { method: "GET", path: "/v2/loyalties/programs/{program}/tier-structures?limit=1" },
  listTiers: { method: "GET", path: "/v2/loyalties/tier-structures/{structure}/tiers?limit=20" },
  listProgramRewards: { method: "GET", path: "/v2/loyalties/programs/{program}/rewards?limit=10" },
  showReward: { method: "GET", path: "/v2/loyalties/rewards/{reward}" },

  createCustomer: { method: "POST", path: "/v1/customers" },
  join: { method: "POST", path: "/v2/loyalties/programs/{program}/members" },
  showMembership: { method: "GET", path: "/v2/loyalties/programs/{program}/memberships/{customer}" },
  listLots: { method: "GET", path: `${CARD}/expiring-points?limit=50&order=expiration_date` },
  listPending: { method: "GET", path: `${CARD}/pending-points?limit=50&order=date` },
  listTransactions: { method: "GET", path: `${CARD}/transactions?limit=8` },
  activatePending: { method: "POST", path: `${CARD}/pending-points/{bucket}/activate` },
  cancelPending: { method: "POST", path: `${CARD}/pending-points/{bucket}/cancel` },

  createOrder: { method: "POST", path: "/v1/orders" },
  changeOrder: { method: "PUT", path: "/v1/orders/{order}" },
  payWithPoints: { method: "POST", path: `${MEMBER}/orders/payments` },
  listPayments: { method: "GET", path: `${MEMBER}/orders/payments?limit=1` },
  buyReward: { method: "POST", path: `${MEMBER}/rewards/purchases` },
  listPurchases: { method: "GET", path: `${MEMBER}/rewards/purchases?limit=5` },
  refundReward: { method: "POST", path: "/v2/loyalties/programs/{program}/rewards/purchases/{purchase}/refund" },

  listHolders: { method: "GET", path: "/v1/referrals/members/{code}/holders?limit=10" },
  listGifts: { method: "GET", path: "/v1/vouchers?limit=10&customer={customer}" },
  sendEvent: { method: "POST", path: "/v1/events" },
};

/** Returns the target of a call with its names filled in. */
export function targetOf({ path }, names = {}) {
  return path.replace(/\{(\w+)\}/g, (_, name) => {
    if (names[name] === undefined) throw new Error(`the call ${path} needs \`${name}\``);
    return encodeURIComponent(names[name]);
  });
}

const NAME = "[A-Za-z0-9_-]{1,100}";
const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const forms = Object.values(CALLS).map(({ method, path }) => ({
  method, target: new RegExp(`^${path.split(/\{\w+\}/).map(literal).join(NAME)}$`),
}));

/** Returns the methods with which a target may be called; none when it is not in the list at all. */
export function methodsOf(target) {
  return forms.filter((form) => form.target.test(target)).map((form) => form.method);
}
