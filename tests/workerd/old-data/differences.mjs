// Lists the documented differences between the answers of earlier versions and those of today, with the reason of each.

const ofProjects = ["/management/v1/projects", "/management/v1/projects/{projectId}"];
const at = (templates, member) => (place) => templates.includes(place.template) && member.test(place.member);
const after = (template, member) => (place) => place.isAfter === true && template.test(place.template) && member.test(place.member);

/**
 * `covers({ template, path, isAfter, member, old, value })` returns whether it explains a place at which two answers differ. In `member`, a JSON
 * pointer, `*` stands for a place in a list; `isAfter` is true for requests after the first change.
 */
export const differences = [
  { reason: "`default_code_config.charset` is shown as it is used, also where the project has set none", covers: at(ofProjects, /\/default_code_config\/charset$/) },
  { reason: "projects have `replay_days`", covers: at(ofProjects, /\/replay_days$/) },
  { reason: "clients list codes of standalone campaigns only if their `visibility` is `public`", covers: at(["/client/v1/vouchers"], /^\/(total|vouchers\/\*)$/) },
  { reason: "clients list no promotion tiers that are disabled, over or not begun", covers: at(["/client/v1/promotions/tiers"], /^\/(total|tiers\/\*.*)$/) },
  { reason: "`loyalty.points` of customers are the points that can be spent", covers: ({ template, member }) => template.startsWith("/v1/customers") && /\/loyalty(\/campaigns\/[^/]+)?\/points$/.test(member) },
  {
    reason: "filters compare e-mail addresses without case",
    covers: ({ template, path, member }) => template === "/v1/customers" && path.includes("email=") && /^\/(total|customers\/\*)$/.test(member),
  },
  {
    reason: "redemptions show servers the complete voucher without `expand`",
    covers: ({ member, old, ...place }) => old === undefined && after(/^\/v1\/redemptions/, /\/voucher\/(assets|categories|publish|validation_rules_assignments)$/)({ member, ...place }),
  },
  {
    reason: "`uncovered_amount` of an order: amounts that a rollback leaves unpaid",
    covers: ({ old, ...place }) => old === undefined && after(/^\/v1\/(orders|redemptions)/, /\/uncovered_amount$/)(place),
  },
  {
    reason: "points that an order earned are revoked when it is no longer paid, also by a rollback",
    covers: after(/^\/v1\/(loyalties\/members\/|vouchers|customers\/)/, /(^|\/)(balance|next_expiration_points|subtracted_points|points_to_go)$/),
  },
];
