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

/// Judges a value that an actor wants to store under the key of a fact; `None` if there is no
/// objection.
pub fn fault(entries: &Entries, key: &str, claim: &Value) -> Option<Ruling> {
    let kind = claim.get("kind").and_then(Value::as_str);
    let is_speculation = matches!(kind, Some("hypothesis" | "derived"));
    let is_memory = is_speculation || matches!(kind, Some("fact" | "preference" | "decision"));
    if !is_memory && !EVIDENCE.iter().any(|field| claim.get(field).is_some()) {
        return None;
    }
    let is_confirmed = is_confirmed(entries, claim);
    if is_speculation {
        let has_end = ["ttl_ms", "review_at", "expires_at"]
            .iter()
            .any(|field| is_time(claim.get(field)));
        let missing = || Ruling::deny(Code::TtlRequired, "expected ttl_ms or review_at, in milliseconds");
        return (!is_confirmed && !has_end).then(missing);
    }
    if !is_confirmed {
        let detail = "expected confirmed_by_event_id, or source_chunk_ids with enough confidence and no contradiction";
        return Some(Ruling::deny(Code::Evidence, detail));
    }
    let stored = entries.get(key).and_then(|entry| entry.document.as_ref().ok());
    let was_speculation = |stored: &&Value| {
        matches!(
            stored.get("kind").and_then(Value::as_str),
            Some("hypothesis" | "derived")
        )
    };
    let stored = stored.filter(was_speculation)?;
    let unchanged = || Ruling::deny(Code::Evidence, "a claim is promoted by evidence that it did not have");
    (!has_more_evidence(stored, claim)).then(unchanged)
}

fn is_time(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Number(number)) => number.as_u64().is_some(),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => false,
    }
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
