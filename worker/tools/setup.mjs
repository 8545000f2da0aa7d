// Defines the project and the credentials of a local start. They are public: a deployed Worker has its own in the secret `SCRIP_SETUP`, and
// so has a local start when that variable is set.

export const credentials = {
  server: { id: "dev-app", token: "dev-token" },
  client: { id: "dev-client", token: "dev-client-token" },
  management: { id: "dev-management", token: "dev-management-token" },
};

/** The secret that signs the webhooks of the development project. */
export const webhookToken = "dev-webhook-token-of-proj-dev";
/** The token for `/metrics` on a development start. */
export const developmentMetricsToken = "dev-metrics-token";

const development = {
  projects: [
    {
      id: "proj_dev",
      name: "Development",
      time_zone: "UTC",
      currency: "EUR",
      case_sensitive_codes: true,
      webhook_token: webhookToken,
      client: {
        origins: ["http://127.0.0.1:*", "http://localhost:*"],
        redeem: true, publish: true, events: true, create_customers: true, list_vouchers: true,
      },
      keys: Object.entries(credentials).map(([kind, key]) => ({ class: kind, ...key })),
    },
  ],
};

/** Returns the text of the binding `SCRIP_SETUP`. */
export function setupText() {
  return process.env.SCRIP_SETUP ?? developmentText();
}

/** Returns the setup of the development project, whose keys are public. */
export function developmentText() {
  return JSON.stringify(development);
}

/** The headers of a call with the development's server key. */
export const serverHeaders = {
  "content-type": "application/json",
  "x-app-id": credentials.server.id,
  "x-app-token": credentials.server.token,
};

/** The headers of a call with the development's management key. */
export const managementHeaders = {
  "content-type": "application/json",
  "x-management-id": credentials.management.id,
  "x-management-token": credentials.management.token,
};
