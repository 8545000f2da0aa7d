// Lists the documented differences between the answers of earlier versions and those of today, with the reason of each.

const ofProjects = ["/management/v1/projects", "/management/v1/projects/{projectId}"];
const at = (templates, member) => (place) => templates.includes(place.template) && member.test(place.member);

/**
 * `covers({ template, member, old, value })` returns whether it explains a place at which two answers differ. In `member`, a JSON pointer, `*`
 * stands for a place in a list.
 */
export const differences = [
  { reason: "`default_code_config.charset` is shown as it is used, also where the project has set none", covers: at(ofProjects, /\/default_code_config\/charset$/) },
  { reason: "projects have `replay_days`", covers: at(ofProjects, /\/replay_days$/) },
  { reason: "clients list codes of standalone campaigns only if their `visibility` is `public`", covers: at(["/client/v1/vouchers"], /^\/(total|vouchers\/\*)$/) },
  { reason: "clients list no promotion tiers that are disabled, over or not begun", covers: at(["/client/v1/promotions/tiers"], /^\/(total|tiers\/\*.*)$/) },
  { reason: "`loyalty.points` of customers are the points that can be spent", covers: at(["/v1/customers", "/v1/customers/{customerId}"], /\/loyalty(\/campaigns\/[^/]+)?\/points$/) },
  {
    reason: "filters compare e-mail addresses without case",
    covers: ({ template, path, member }) => template === "/v1/customers" && path.includes("email=") && /^\/(total|customers\/\*)$/.test(member),
  },
];
