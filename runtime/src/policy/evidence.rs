//! Evidence: which claims an actor may store, and as what.
//!
//! Owns the rules for memory entries: facts whose `kind` is one of memory, or that carry evidence.
//! INVARIANT: an unconfirmed claim is a hypothesis or derived and has an expiry; only evidence that
//! it did not have before promotes it.
//! It does not know who writes.
//! Read next: `token.rs`.
//!
//! Source: SS-01, "Confirmed vs speculation thresholds".

use serde_json::Value;

use super::entry::Entries;
use super::json;
use super::ruling::{Code, Ruling};

/// The last segment of the policy keys that set the minimum confidence of a claim; the strictest
/// counts.
const THRESHOLD: &str = "confidence_threshold";

/// The fields that only claims about the world have.
const EVIDENCE: [&str; 4] = [
    "confirmed_by_event_id",
    "source_chunk_ids",
    "confidence",
    "conflict_state",
];

/// The kinds of claims that need confirmation.
const CONFIRMED: [&str; 3] = ["fact", "preference", "decision"];

/// The kinds of claims that need an end.
const SPECULATIVE: [&str; 2] = ["hypothesis", "derived"];

/// Judges a value that an actor wants to store under the key of a fact; `None` if there is no
/// objection.
pub fn fault(entries: &Entries, key: &str, claim: &Value) -> Option<Ruling> {
    let kind = match claim.get("kind") {
        None => None,
        Some(Value::String(kind)) if is_kind(kind, &CONFIRMED) || is_kind(kind, &SPECULATIVE) => Some(kind.as_str()),
        Some(other) => {
            let detail =
                format!("the kind of a claim is fact, preference, decision, hypothesis or derived, not {other}");
            return Some(Ruling::deny(Code::Evidence, detail));
        }
    };
    let is_confirmed = is_confirmed(entries, claim);
    if kind.is_some_and(|kind| is_kind(kind, &SPECULATIVE)) {
        let missing = || Ruling::deny(Code::TtlRequired, "expected ttl_ms or review_at, in milliseconds");
        return (!is_confirmed && !has_end(claim)).then(missing);
    }
    let stored = entries.get(key).and_then(|entry| entry.document.as_ref().ok());
    let speculation = stored.filter(|stored| {
        let kind = stored.get("kind").and_then(Value::as_str);
        kind.is_some_and(|kind| is_kind(kind, &SPECULATIVE))
    });
    // Whatever replaces a speculation takes its place as a claim, also if it names no kind.
    let is_claim = kind.is_some() || speculation.is_some() || EVIDENCE.iter().any(|field| claim.get(field).is_some());
    if !is_claim {
        return None;
    }
    if !is_confirmed {
        let detail = "expected confirmed_by_event_id, or source_chunk_ids with enough confidence and no contradiction";
        return Some(Ruling::deny(Code::Evidence, detail));
    }
    let unchanged = || Ruling::deny(Code::Evidence, "a claim is promoted by evidence that it did not have");
    (!has_more_evidence(speculation?, claim)).then(unchanged)
}

fn is_kind(kind: &str, kinds: &[&str]) -> bool {
    kinds.contains(&kind)
}

/// Says whether a claim names its end: a number of milliseconds above 0, or a day of review.
fn has_end(claim: &Value) -> bool {
    let is_positive = |field: &str| claim.get(field).and_then(Value::as_u64).is_some_and(|ms| ms > 0);
    let day = claim.get("review_at").and_then(Value::as_str);
    ["ttl_ms", "review_at", "expires_at"].into_iter().any(is_positive) || day.is_some_and(is_day)
}

/// Says whether a text is a day of the calendar, `YYYY-MM-DD`.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = &parts[..] else { return false };
    let number = |part: &str, digits: usize| {
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u16>().ok().filter(|_| is_number)
    };
    number(year, 4).is_some()
        && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
        && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
}

fn is_confirmed(entries: &Entries, claim: &Value) -> bool {
    if names_event(claim) {
        return true;
    }
    let is_contradictory = claim.get("conflict_state").and_then(Value::as_str) == Some("contradictory");
    let confidence = claim.get("confidence").and_then(Value::as_f64);
    let is_confident = confidence
        .zip(threshold(entries))
        .is_some_and(|(found, wanted)| found >= wanted);
    !sources(claim).is_empty() && is_confident && !is_contradictory
}

/// Says whether the claim names the event that confirmed it.
fn names_event(claim: &Value) -> bool {
    match claim.get("confirmed_by_event_id") {
        Some(Value::String(id)) => !id.is_empty(),
        Some(Value::Number(_)) => true,
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

fn sources(claim: &Value) -> &[Value] {
    claim
        .get("source_chunk_ids")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn has_more_evidence(stored: &Value, claim: &Value) -> bool {
    let is_new = |source: &Value| !sources(stored).iter().any(|known| json::equal(known, source));
    let event = claim.get("confirmed_by_event_id").filter(|_| names_event(claim));
    event.is_some_and(|event| stored.get("confirmed_by_event_id") != Some(event)) || sources(claim).iter().any(is_new)
}

/// Returns the minimum confidence of a claim; without a policy, no confidence suffices.
fn threshold(entries: &Entries) -> Option<f64> {
    let is_threshold = |key: &str| key.rsplit('.').next() == Some(THRESHOLD);
    let mut strictest: Option<f64> = None;
    for (_, entry) in entries.under("policy.").filter(|(key, _)| is_threshold(key)) {
        // A malformed threshold counts as one that no claim reaches.
        let value = entry
            .document
            .as_ref()
            .ok()
            .and_then(|document| document.get("value")?.as_f64());
        strictest = Some(
            strictest
                .unwrap_or(f64::NEG_INFINITY)
                .max(value.unwrap_or(f64::INFINITY)),
        );
    }
    strictest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(stored: Option<&Value>, claim: &Value, expected: Option<Code>) {
        let mut entries = Entries::default();
        entries.set("fact.m", stored.map(Value::to_string).as_deref());
        let found = fault(&entries, "fact.m", claim).map(|ruling| ruling.code);
        assert_eq!(found, expected, "{claim} over {stored:?}");
    }

    #[test]
    fn unknown_kinds_are_refused() {
        check(None, &json!({"value": 1}), None);
        for kind in [json!("Fact"), json!("rumor"), json!(""), json!(null), json!(["fact"])] {
            check(
                None,
                &json!({"kind": kind, "confirmed_by_event_id": "e"}),
                Some(Code::Evidence),
            );
        }
    }

    #[test]
    fn whatever_replaces_a_hypothesis_is_judged_as_a_claim() {
        let stored = json!({"v": 1, "kind": "hypothesis", "value": 1, "ttl_ms": 5});
        check(Some(&stored), &json!({"value": 1}), Some(Code::Evidence));
        check(
            Some(&stored),
            &json!({"value": 2, "kind": "hypothesis", "ttl_ms": 5}),
            None,
        );
        check(Some(&stored), &json!({"value": 1, "confirmed_by_event_id": "e"}), None);
        check(Some(&json!({"v": 1, "value": 1})), &json!({"value": 2}), None);
    }

    #[test]
    fn the_end_of_a_claim_is_a_number_above_0_or_a_day() {
        let with = |field: &str, end: Value, expected| {
            check(None, &json!({"kind": "hypothesis", "value": 1, field: end}), expected);
        };
        for field in ["ttl_ms", "review_at", "expires_at"] {
            with(field, json!(5), None);
            for end in [
                json!(0),
                json!(-1),
                json!(1.5),
                json!("soon"),
                json!(""),
                json!("5"),
                json!(null),
            ] {
                with(field, end, Some(Code::TtlRequired));
            }
        }
        with("review_at", json!("2027-01-01"), None);
        with("review_at", json!("2027-13-01"), Some(Code::TtlRequired));
        with("ttl_ms", json!("2027-01-01"), Some(Code::TtlRequired));
    }
}
