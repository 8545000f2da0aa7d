// Passes the revision of a project's rules from its object to the entry. Both are in one isolate on plain workerd; elsewhere the report
// reaches only the entry of the object's own isolate, which does not use it there.
let listener = () => {};

/** Has reports passed to the entry. */
export function listen(report) {
  listener = report;
}

/** Reports the present revision of a project's rules, before a caller gets the answer of the commit. */
export function reportRevision(project, revision) {
  listener(project, revision);
}
