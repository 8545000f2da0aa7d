// Fills the settings of a project: schemas of metadata and events, stacking rules, keys, users, branding, webhooks with deliveries, templates, locations.

/** Fills the settings; returns names that the recorded requests need. */
export async function fillSettings(shop, hooks) {
  const { manage, post } = shop;
  const text = (more) => ({ type: "string", optional: true, array: false, ...more });
  for (const [object, properties] of [
    ["customer", { level: text({ eq: ["gold", "silver"] }), age: { type: "number", optional: true, array: false, gte: 18 }, season: text() }],
    ["order", { shop: text({ eq: ["north", "south"] }) }], ["redemption", { till: { type: "number", optional: true, array: false } }],
    ["place", { city: text() }],
  ]) await manage("/metadata-schemas", { related_object: object, properties });
  await manage("/custom-event-schemas", { name: "viewed", schema: { properties: { page: { type: "string", optional: true } } } });
  const reviewed = await manage("/custom-event-schemas", { name: "reviewed", schema: { properties: { stars: { type: "number", optional: true } } } });
  await changeStackingRules(shop);
  const client = await manage("/keys", { class: "client", name: "A page" });
  await manage("/keys", { class: "server", name: "A till" });
  await post("/management/v1/projects/users/invite", { email: "ada@shop.example", first_name: "Ada", last_name: "Lovelace", projects: { proj_dev: "ADMIN" } });
  await manage("/branding", { brand: { name: "Shop", website_url: "https://shop.example" }, address: { street: "Long Street 1", city: "Bonn", postal: "53111", country: "Germany" }, contact: { email: "hello@shop.example" } });
  await post("/v1/locations", { name: "Warsaw", shape: { type: "circle", format: "distance", distance: { center: "52.23, 21.01", radius: "5km" } } });
  await manage("/webhooks", { target_url: hooks.accepting, events: ["customer.created", "redemption.succeeded", "voucher.updated", "publication.succeeded"] });
  await manage("/webhooks", { target_url: hooks.refusing, events: ["redemption.failed", "redemption.succeeded", "customer.updated"] });
  await post("/management/v1/projects", { name: "Outlet", timezone: "Europe/Warsaw", currency: "PLN", case_sensitive_codes: false });
  return { reviewed: reviewed.id, client_id: client.app_id, client_token: client.app_token };
}

/** Makes a template of a campaign, and a campaign of the template. */
export async function makeTemplates({ post }) {
  const { id } = await post("/v1/campaigns", { name: "Model", campaign_type: "DISCOUNT_COUPONS", voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 1_000 } } });
  const template = await post("/v1/templates/campaigns", { campaign_id: id, name: "By model", description: "For sales" });
  await post(`/v1/templates/campaigns/${template.id}/campaign-setup`, { name: "Set up" });
}

async function changeStackingRules({ get, put }) {
  const path = "/management/v1/projects/proj_dev/stacking-rules";
  const { data: [rules] } = await get(path);
  await put(`${path}/${rules.id}`, { redeemables_limit: 20, applicable_redeemables_limit: 4, redeemables_application_mode: "PARTIAL" });
}
