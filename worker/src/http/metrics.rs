//! Response of `/metrics`: metrics for the operator, in the text format of Prometheus (version 0.0.4).
//!
//! Written by hand: the format has three kinds of lines. The values come from two instances of the module and from the memory of
//! each object; a library's registry would have to be filled again for each response. Counters saturate: a metric is no amount.

use crate::constant_time::{equal_in_constant_time, sha256_hex};
use crate::http::request::Request;
use crate::http::request_checks::header;
use scrip::count::Countable;
use serde::Deserialize;
use std::fmt::{Display, Write};

/// Path of the metrics. It is not a route: without the token the response is that of an unknown path.
pub const PATH: &str = "/metrics";
/// Media type of the response.
pub const MEDIA: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Upper bounds of the histogram buckets in milliseconds. `worker/shell/metrics.mjs` has the same ones.
pub const BOUNDS_MS: [u64; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

/// Returns true if a request has the operator's token.
pub fn is_allowed(request: &Request, token: &str) -> bool {
    let sent = header(request, "authorization").and_then(|value| value.split_once(' '));
    let sent = sent.filter(|(word, _)| word.eq_ignore_ascii_case("bearer")).map_or("", |(_, sent)| sent.trim());
    equal_in_constant_time(&sha256_hex(sent.as_bytes()), &sha256_hex(token.as_bytes()))
}

/// Histogram of durations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Times {
    /// Number of durations above the previous bound and up to this one; the last counts those above all bounds.
    pub counts: Vec<u64>,
    /// Sum of the durations, in milliseconds.
    pub sum_ms: u64,
}

impl Default for Times {
    fn default() -> Times {
        Times { counts: vec![0; BOUNDS_MS.len().plus_one()], sum_ms: 0 }
    }
}

impl Times {
    /// Counts a duration.
    pub fn record(&mut self, millis: u64) {
        let place = BOUNDS_MS.iter().position(|bound| millis <= *bound).unwrap_or(BOUNDS_MS.len());
        if let Some(count) = self.counts.get_mut(place) {
            // A metric is no amount.
            *count = count.saturating_add(1);
        }
        // A metric is no amount.
        self.sum_ms = self.sum_ms.saturating_add(millis);
    }
}

/// A metric: its name and help text. All its samples follow it together.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// The name.
    pub name: &'static str,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// Help text of the metric.
    pub help: &'static str,
}

/// A label and its value.
pub type Label<'a> = (&'a str, &'a str);

/// Text of a response.
#[derive(Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    /// Returns the text.
    pub fn text(self) -> String {
        self.0
    }

    /// Begins a metric, and writes its samples.
    pub fn metric(&mut self, metric: &Metric, samples: impl FnOnce(&mut MetricSamples<'_>)) {
        let Metric { name, kind, help } = metric;
        self.push(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        samples(&mut MetricSamples { exposition: self, name });
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(text);
    }
}

/// The samples of one metric.
pub struct MetricSamples<'e> {
    exposition: &'e mut Exposition,
    name: &'e str,
}

impl MetricSamples<'_> {
    /// Writes one value.
    pub fn sample(&mut self, labels: &[Label<'_>], value: impl Display) {
        self.line("", labels, None, &value);
    }

    /// Writes a histogram, in seconds.
    pub fn times(&mut self, labels: &[Label<'_>], times: &Times) {
        let mut count: u64 = 0;
        for (place, more) in times.counts.iter().enumerate() {
            // A metric is no amount.
            count = count.saturating_add(*more);
            let bound = BOUNDS_MS.get(place).map_or_else(|| "+Inf".to_owned(), |bound| seconds(*bound));
            self.line("_bucket", labels, Some(("le", &bound)), &count);
        }
        self.line("_sum", labels, None, &seconds(times.sum_ms));
        self.line("_count", labels, None, &count);
    }

    fn line(&mut self, end: &str, labels: &[Label<'_>], last: Option<Label<'_>>, value: &dyn Display) {
        let written: Vec<String> = labels.iter().copied().chain(last).map(|(name, value)| label(name, value)).collect();
        let written = if written.is_empty() { String::new() } else { format!("{{{}}}", written.join(",")) };
        let name = self.name;
        self.exposition.push(format_args!("{name}{end}{written} {value}\n"));
    }
}

fn label(name: &str, value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{name}=\"{escaped}\"")
}

/// Formats milliseconds as seconds, exactly.
pub fn seconds(millis: u64) -> String {
    let (whole, rest) = (millis.checked_div(1_000).unwrap_or(0), millis.checked_rem(1_000).unwrap_or(0));
    let text = format!("{whole}.{rest:03}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_once_labels_are_escaped_and_buckets_add_up() {
        let mut times = Times::default();
        [0, 1, 2, 3, 10_001].into_iter().for_each(|millis| times.record(millis));
        let mut details = Exposition::default();
        let metric = |name, kind| Metric { name, kind, help: "What it is." };
        details.metric(&metric("one_total", "counter"), |samples| {
            samples.sample(&[], 3);
            samples.sample(&[("route", "a\"b\\c\nd"), ("status", "200")], 7);
        });
        details.metric(&metric("took_seconds", "histogram"), |samples| samples.times(&[("of", "x")], &times));
        let text = details.text();
        assert!(text.starts_with("# HELP one_total What it is.\n# TYPE one_total counter\none_total 3\n"), "{text}");
        assert!(text.contains("one_total{route=\"a\\\"b\\\\c\\nd\",status=\"200\"} 7\n"), "{text}");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("took_seconds")).collect();
        assert_eq!(lines.first(), Some(&"took_seconds_bucket{of=\"x\",le=\"0.001\"} 2"));
        assert_eq!(lines.get(1), Some(&"took_seconds_bucket{of=\"x\",le=\"0.002\"} 3"));
        assert!(lines.contains(&"took_seconds_bucket{of=\"x\",le=\"10\"} 4"), "{text}");
        assert!(lines.contains(&"took_seconds_bucket{of=\"x\",le=\"+Inf\"} 5"), "{text}");
        assert!(lines.ends_with(&["took_seconds_sum{of=\"x\"} 10.007", "took_seconds_count{of=\"x\"} 5"]), "{text}");
    }

    #[test]
    fn milliseconds_are_seconds_to_the_digit() {
        let details = [0, 1, 10, 1_000, 1_500, 12_345].map(seconds);
        assert_eq!(details, ["0", "0.001", "0.01", "1", "1.5", "12.345"]);
    }

    #[test]
    fn only_the_token_opens() {
        let request = |value: &str| Request {
            headers: vec![("authorization".to_owned(), value.to_owned())],
            ..Request::default()
        };
        assert!(is_allowed(&request("Bearer right"), "right") && is_allowed(&request("bearer right"), "right"));
        for wrong in ["Bearer wrong", "Bearer ", "right", "Basic right", "Bearer right and more"] {
            assert!(!is_allowed(&request(wrong), "right"), "{wrong}");
        }
        assert!(!is_allowed(&Request::default(), "right"));
    }
}
