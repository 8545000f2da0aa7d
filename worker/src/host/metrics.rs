//! Counts the answers of the entry in memory, and collects the metrics of the objects when the operator requests
//! `/metrics`. Counting a request needs no additional call.
//!
//! Counts in memory begin at zero with each instance, which Prometheus expects of counters. On Cloudflare there are many instances
//! of an entry, and an answer describes one of them. Counters saturate: a metric is no amount.

use super::bindings::{Bindings, ObjectCall, ObjectCallFailure};
use super::log;
use crate::directory::PROJECTS;
use crate::domain::decisions::redemption_input::OPERATION;
use crate::http::metrics::{Exposition, MEDIA, Metric, PATH, Times, is_allowed, seconds};
use crate::http::reply::{error_reply, set_header, unauthorized};
use crate::http::request::{Reply, Request};
use crate::http::route::Route;
use crate::jobs::queue_metrics::QueueMetrics;
use crate::routes::TABLE;
use crate::store::sql::Fault;
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::BTreeMap;
use wasm_bindgen::prelude::wasm_bindgen;

/// Method and route of a request. An unknown path has no name here, or callers could invent names.
type CallName = (&'static str, &'static str);

/// Counters of the entry.
#[derive(Default)]
struct EntryCounters {
    requests: BTreeMap<(CallName, u16), u64>,
    times: BTreeMap<CallName, Times>,
    /// Answers by copies of the rules, without an object.
    by_rules: BTreeMap<CallName, u64>,
}

thread_local! {
    static COUNTERS: RefCell<EntryCounters> = RefCell::default();
}

/// Counts a request that was answered.
pub(super) fn count(request: &Request, route: Option<&'static Route>, status: u16, millis: u64) {
    let call_name = route.map_or_else(|| (method_of(&request.method), "none"), |route| (route.method, route.path));
    COUNTERS.with_borrow_mut(|counters| {
        let count = counters.requests.entry((call_name, status)).or_default();
        *count = count.saturating_add(1); // A metric is no amount.
        counters.times.entry(call_name).or_default().record(millis);
    });
}

/// Counts a request that the entry answered by copies of the rules. It is also counted as answered.
pub(super) fn count_by_rules(route: &'static Route) {
    COUNTERS.with_borrow_mut(|counters| {
        let count = counters.by_rules.entry((route.method, route.path)).or_default();
        *count = count.saturating_add(1); // A metric is no amount.
    });
}

/// Counts a request that the shell answered, some milliseconds after its arrival; returns its route as the log names it.
#[wasm_bindgen(js_name = countFailed)]
pub fn count_failed(method: &str, path: &str, millis: f64) -> String {
    let request = Request { method: method.to_owned(), path: path.to_owned(), ..Request::default() };
    let route = TABLE.find(method, path).ok().map(|matched| matched.route);
    // A clock that was set back measures no time.
    count(&request, route, 500, millis.max(0.0) as u64);
    log::name_of(&request, route)
}

fn method_of(method: &str) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    known.into_iter().find(|known| *known == method).unwrap_or("OTHER")
}

/// Metrics of an object.
#[derive(Debug, Deserialize)]
struct ObjectMetrics {
    waiting: QueueMetrics,
    /// Operation, reason of its refusal (empty if accepted), and count.
    verdicts: Vec<(String, String, u64)>,
    decide: Times,
    commit: Times,
    failures: u64,
    failed_alarms: u64,
    /// Durations of the builds of the bundle, each the sum of its slices.
    bundle_builds: Times,
    bundle_slices: Times,
    failed_bundle_builds: u64,
    failed_bundle_copies: u64,
}

/// Returns the reply of `/metrics`; `None` if this service has no token for it, and so no such path.
pub(super) async fn answer(
    bindings: &Bindings,
    request: &Request,
    lines: &str,
    request_id: &str,
) -> Result<Option<Reply>, ObjectCallFailure> {
    if request.path != PATH || !matches!(request.method.as_str(), "GET" | "HEAD") {
        return Ok(None);
    }
    let Some(token) = bindings.metrics_token() else { return Ok(None) };
    if !is_allowed(request, &token) {
        return Ok(Some(error_reply(&unauthorized(), request_id)));
    }
    let call = ObjectCall { method: "GET", target: PROJECTS, lines, body: None };
    let answer = bindings.call("directory", call).await?;
    let projects: Vec<String> = serde_json::from_slice(&answer.bytes.to_vec())
        .map_err(|error| Fault(format!("the directory's list of projects cannot be read: {error}")))?;
    let details = bindings.metrics_of(&projects).await?;
    let metrics: Vec<(&str, Option<ObjectMetrics>)> = projects
        .iter()
        .zip(details)
        .map(|(project, details)| (project.as_str(), details.and_then(|details| serde_json::from_str(&details).ok())))
        .collect();
    let mut reply = Reply { status: 200, headers: Vec::new(), body: write(&metrics).into_bytes() };
    set_header(&mut reply, "content-type", MEDIA);
    set_header(&mut reply, "cache-control", "no-store");
    set_header(&mut reply, "x-request-id", request_id);
    Ok(Some(reply))
}

fn write(metrics: &[(&str, Option<ObjectMetrics>)]) -> String {
    let mut details = Exposition::default();
    let mut metric = |name, kind, help, write: &dyn Fn(&mut crate::http::metrics::MetricSamples<'_>)| {
        details.metric(&Metric { name, kind, help }, |samples| write(samples));
    };
    metric("scrip_info", "gauge", "The version that answers.", &|samples| {
        samples.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    });
    COUNTERS.with_borrow(|counters| {
        metric("scrip_requests_total", "counter", "Requests answered, by route, method and status.", &|samples| {
            for (((method, route), status), count) in &counters.requests {
                samples.sample(&[("route", route), ("method", method), ("status", &status.to_string())], count);
            }
        });
        metric("scrip_edge_answers_total", "counter", "Requests answered by copies of the rules.", &|samples| {
            for ((method, route), count) in &counters.by_rules {
                samples.sample(&[("route", route), ("method", method)], count);
            }
        });
        metric("scrip_request_seconds", "histogram", "From a request's arrival to its answer.", &|samples| {
            for ((method, route), times) in &counters.times {
                samples.times(&[("route", route), ("method", method)], times);
            }
        });
    });
    let known = || metrics.iter().filter_map(|(project, metrics)| Some((*project, metrics.as_ref()?)));
    metric("scrip_project_up", "gauge", "Whether the project's object reported its metrics.", &|samples| {
        for (project, metrics) in metrics {
            samples.sample(&[("project", project)], u8::from(metrics.is_some()));
        }
    });
    metric("scrip_decisions_total", "counter", "Decisions by verdict, and by the first refusal.", &|samples| {
        for (project, (operation, reason, count)) in verdicts(metrics, |operation| operation != OPERATION) {
            let verdict = if reason.is_empty() { "valid" } else { "invalid" };
            let labels =
                [("project", project), ("operation", operation), ("verdict", verdict), ("reason", reason.as_str())];
            samples.sample(&labels, count);
        }
    });
    metric("scrip_redemption_inputs_total", "counter", "Inputs of redemptions for a replay.", &|samples| {
        for (project, (_, reason, count)) in verdicts(metrics, |operation| operation == OPERATION) {
            let result = if reason.is_empty() { "kept" } else { reason.as_str() };
            samples.sample(&[("project", project), ("result", result)], count);
        }
    });
    metric("scrip_decide_seconds", "histogram", "Reading, deciding and writing, before the commit.", &|samples| {
        known().for_each(|(project, metrics)| samples.times(&[("project", project)], &metrics.decide));
    });
    metric("scrip_commit_seconds", "histogram", "From there to the disk's answer; one batch in eight.", &|samples| {
        known().for_each(|(project, metrics)| samples.times(&[("project", project)], &metrics.commit));
    });
    metric("scrip_queue_length", "gauge", "What waits to be done.", &|samples| {
        for (project, (queue, length)) in
            known().flat_map(|(project, metrics)| metrics.waiting.queues.iter().map(move |queue| (project, queue)))
        {
            samples.sample(&[("project", project), ("queue", queue)], length);
        }
    });
    metric("scrip_alarm_delay_seconds", "gauge", "For how long the most urgent work has been due.", &|samples| {
        for (project, metrics) in known() {
            let late = u64::try_from(metrics.waiting.late_ms).unwrap_or(0);
            samples.sample(&[("project", project)], seconds(late));
        }
    });
    metric("scrip_failures_total", "counter", "Requests that failed and were rolled back.", &|samples| {
        known().for_each(|(project, metrics)| samples.sample(&[("project", project)], metrics.failures));
    });
    metric("scrip_alarm_failures_total", "counter", "Alarms that failed and are tried again.", &|samples| {
        known().for_each(|(project, metrics)| samples.sample(&[("project", project)], metrics.failed_alarms));
    });
    write_bundles(&mut details, metrics);
    details.text()
}

/// Lists the verdicts of the operations for which `is` is true, with their projects.
fn verdicts<'m>(
    metrics: &'m [(&str, Option<ObjectMetrics>)],
    is: impl Fn(&str) -> bool + 'm,
) -> impl Iterator<Item = (&'m str, &'m (String, String, u64))> {
    let known = metrics.iter().filter_map(|(project, metrics)| Some((*project, metrics.as_ref()?)));
    let all = known.flat_map(|(project, metrics)| metrics.verdicts.iter().map(move |verdict| (project, verdict)));
    all.filter(move |(_, (operation, _, _))| is(operation))
}

/// Writes the metrics of the bundles.
fn write_bundles(details: &mut Exposition, metrics: &[(&str, Option<ObjectMetrics>)]) {
    let mut metric = |name, kind, help, write: &dyn Fn(&mut crate::http::metrics::MetricSamples<'_>)| {
        details.metric(&Metric { name, kind, help }, |samples| write(samples));
    };
    let known = || metrics.iter().filter_map(|(project, metrics)| Some((*project, metrics.as_ref()?)));
    metric("scrip_bundle_age_seconds", "gauge", "For how long the head of the bundle has been signed.", &|samples| {
        for (project, age_ms) in
            known().filter_map(|(project, metrics)| Some((project, metrics.waiting.bundle_age_ms?)))
        {
            samples.sample(&[("project", project)], seconds(u64::try_from(age_ms).unwrap_or(0)));
        }
    });
    metric(
        "scrip_bundle_build_seconds",
        "histogram",
        "One build of the bundle, in the object, all slices together.",
        &|samples| {
            known().for_each(|(project, metrics)| samples.times(&[("project", project)], &metrics.bundle_builds));
        },
    );
    metric(
        "scrip_bundle_slice_seconds",
        "histogram",
        "One slice of a build of the bundle, in the object.",
        &|samples| {
            known().for_each(|(project, metrics)| samples.times(&[("project", project)], &metrics.bundle_slices));
        },
    );
    metric("scrip_bundle_builds_total", "counter", "Builds of the bundle, and copies to KV that failed.", &|samples| {
        for (project, metrics) in known() {
            // A metric is no amount.
            let built: u64 = metrics.bundle_builds.counts.iter().copied().fold(0, u64::saturating_add);
            let results = [
                ("built", built),
                ("failed", metrics.failed_bundle_builds),
                ("copy_failed", metrics.failed_bundle_copies),
            ];
            for (result, count) in results {
                samples.sample(&[("project", project), ("result", result)], count);
            }
        }
    });
}
