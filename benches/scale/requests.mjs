// Lists the requests for a large shop: every list that a shop pages through, by each documented filter and order.

const at = encodeURIComponent;
const list = (kind, name, query) => ({ name: `${kind} ${name}`, path: (facts) => `/v1/${kind}${query(facts)}` });
const vouchers = (name, query) => list("vouchers", name, query);
const customers = (name, query) => list("customers", name, query);
const redemptions = (name, query) => list("redemptions", name, query);
/** A deep filter. */
const deep = (field, operator, value) => `?filters[${field}][conditions][${operator}]=${at(value)}`;

export const requests = [
  vouchers("by code", ({ code }) => `/${code}`),
  customers("by source_id", ({ customer }) => `/${customer}`),
  vouchers("first page", () => ""),
  vouchers("first page of a hundred", () => "?limit=100"),
  customers("first page", () => ""),
  customers("page at the end (starting_after)", ({ oldest }) => `?starting_after=${at(oldest)}`),
  redemptions("first page", () => ""),
  vouchers("order=code", () => "?order=code"),
  vouchers("order=-code", () => "?order=-code"),
  vouchers("order=created_at", () => "?order=created_at"),
  vouchers("order=updated_at", () => "?order=updated_at"),
  vouchers("order=-updated_at", () => "?order=-updated_at"),
  vouchers("campaign", ({ campaign }) => `?campaign=${at(campaign)}`),
  vouchers("campaign_id", ({ campaign_id }) => `?campaign_id=${campaign_id}`),
  vouchers("category", () => "?category=old"),
  vouchers("category of many", () => "?category=new"),
  vouchers("customer", ({ customer }) => `?customer=${customer}`),
  vouchers("code", ({ code }) => `?code=${code}`),
  vouchers("created_at[after], half", ({ half }) => `?created_at[after]=${at(half)}`),
  vouchers("created_at[before], half", ({ half }) => `?created_at[before]=${at(half)}`),
  vouchers("created_at, between", ({ half, last }) => `?created_at[after]=${at(half)}&created_at[before]=${at(last)}`),
  vouchers("updated_at[after]", ({ first }) => `?updated_at[after]=${at(first)}`),
  vouchers("filters code", ({ code }) => deep("code", "$is", code)),
  vouchers("filters code starts with", () => deep("code", "$starts_with", "OWN")),
  vouchers("filters campaign_name", ({ campaign }) => deep("campaign_name", "$is", campaign)),
  vouchers("filters campaign_ids", ({ campaign_id }) => deep("campaign_ids", "$in", campaign_id)),
  vouchers("filters type", () => deep("type", "$is", "GIFT_VOUCHER")),
  vouchers("filters type of many", () => deep("type", "$is", "DISCOUNT_VOUCHER")),
  vouchers("filters categories", () => deep("categories", "$is", "old")),
  vouchers("filters category_ids", ({ category_id }) => deep("category_ids", "$is", category_id)),
  vouchers("filters holder_id", ({ customer_id }) => deep("holder_id", "$is", customer_id)),
  vouchers("filters is_referral_code", () => deep("is_referral_code", "$is", "true")),
  vouchers("filters active", () => deep("active", "$disabled", "true")),
  vouchers("filters created_at", ({ half }) => deep("created_at", "$after", half)),
  vouchers("filters updated_at", ({ first }) => deep("updated_at", "$after", first)),
  vouchers("filters start_date", () => deep("start_date", "$before", "2026-02-01T00:00:00Z")),
  vouchers("filters expiration_date", () => deep("expiration_date", "$after", "2029-01-01T00:00:00Z")),
  customers("email", ({ email }) => `?email=${at(email)}`),
  customers("city", ({ city }) => `?city=${city}`),
  customers("name", () => "?name=name%207%20"),
  customers("created_at[after], all", ({ first }) => `?created_at[after]=${at(first)}`),
  customers("updated_at[after]", ({ first }) => `?updated_at[after]=${at(first)}`),
  customers("order=-updated_at", () => "?order=-updated_at"),
  customers("order=source_id", () => "?order=source_id"),
  redemptions("result", () => "?result=SUCCESS"),
  redemptions("campaign", ({ campaign }) => `?campaign=${at(campaign)}`),
  redemptions("customer", ({ customer }) => `?customer=${customer}`),
  redemptions("created_at[after]", ({ half }) => `?created_at[after]=${at(half)}`),
  redemptions("order=voucher_code", () => "?order=voucher_code"),
  redemptions("filters voucher_code", ({ endless }) => deep("voucher_code", "$is", endless)),
];
