//! The rights of a principal: which need of an action its manifest and policy do not meet.
//!
//! INVARIANT: the answer depends on the state before the turn, the principal and the action, so the
//! turn refuses an action before its effect exactly if the gate denies it afterwards.
//! It does not judge capability values; `chain.rs` does.
//! Read next: `../gate.rs`.

use super::bench::Bench;
use super::{Principal, Proposal, Reason};
use crate::action::{Action, Need};
use crate::dataspace::pattern::Pattern;
use crate::model::manifest::{Extent, Limited, Manifest, Right};
use crate::model::value::Fact;
use crate::state::before::StateBefore;

/// Finds the first right that an action needs and the principal lacks.
#[inline]
pub(crate) fn lack(before: StateBefore<'_>, principal: Principal<'_>, action: &Action) -> Option<Reason> {
    let needs = action.needs();
    needs.into_iter().find_map(|need| lack_of(before, principal, &need))
}

/// Returns why the principal does not have a right; `None` if it has.
#[inline]
pub(crate) fn lack_of(before: StateBefore<'_>, principal: Principal<'_>, need: &Need<'_>) -> Option<Reason> {
    if is_met(principal, need) {
        return None;
    }
    let Some(capability) = name(need) else {
        return Some(reason(need));
    };
    let is_granted_by_policy = || {
        let proposal = Proposal {
            before,
            principal,
            actions: &[],
        };
        Bench::new(proposal).is_granted(capability)
    };
    let is_missing = !before.has_policy() || !is_granted_by_policy();
    is_missing.then(|| reason(need))
}

/// Returns the name of the capability that a need is about, if it is about one.
pub(crate) fn name<'a>(need: &'a Need<'_>) -> Option<&'a str> {
    match need {
        Need::Capability(name) => Some(name),
        Need::Value(right, _) | Need::Some(right) => Some(right.name()),
        Need::Observe(_) => Some(Right::Observe.name()),
        Need::Reach(_) => Some(Right::Message.name()),
        Need::Manifest(_) => None,
    }
}

/// Returns the reason to refuse an action with an unmet need.
pub(crate) fn reason(need: &Need<'_>) -> Reason {
    name(need).map_or(Reason::CapabilityExceeded {}, |capability| Reason::CapabilityMissing {
        capability: capability.to_owned(),
    })
}

/// Says whether the manifest of a principal meets a need.
pub(crate) fn is_met(principal: Principal<'_>, need: &Need<'_>) -> bool {
    let manifest = principal.manifest;
    match need {
        Need::Capability(name) => manifest.grants(name),
        Need::Value(right, value) => match manifest.extent(*right) {
            Extent::Whole => true,
            Extent::Limited => patterns(manifest, *right).any(|pattern| is_match(&pattern, value)),
            Extent::Nothing => false,
        },
        Need::Observe(wanted) => match manifest.extent(Right::Observe) {
            Extent::Whole => true,
            Extent::Limited => {
                Pattern::read(wanted.view()).is_some_and(|wanted| is_included(manifest, Right::Observe, &wanted))
            }
            Extent::Nothing => false,
        },
        Need::Some(right) => manifest.extent(*right) != Extent::Nothing,
        Need::Reach(actor) => *actor == principal.actor || manifest.extent(Right::Message) != Extent::Nothing,
        Need::Manifest(granted) => excess(manifest, granted).is_none(),
    }
}

/// Finds a grant of another manifest that a manifest does not have.
pub(crate) fn excess(manifest: &Manifest, granted: &Manifest) -> Option<String> {
    let is_in = |limited: &&Limited| {
        let pattern = || Pattern::read(limited.pattern.view());
        manifest.extent(limited.right) == Extent::Whole
            || pattern().is_some_and(|pattern| is_included(manifest, limited.right, &pattern))
    };
    let name = granted.names().find(|name| !manifest.grants(name)).cloned();
    name.or_else(|| Some(granted.limited().find(|limited| !is_in(limited))?.to_string()))
}

fn is_included(manifest: &Manifest, right: Right, wanted: &Pattern) -> bool {
    patterns(manifest, right).any(|pattern| pattern.includes(wanted))
}

fn is_match(pattern: &Pattern, value: &Fact) -> bool {
    pattern.matches(&value.value()).is_some()
}

/// Reads the patterns that limit a right; one that cannot be read grants nothing.
fn patterns(manifest: &Manifest, right: Right) -> impl Iterator<Item = Pattern> + '_ {
    let limits = manifest.limited().filter(move |limited| limited.right == right);
    limits.filter_map(|limited| Pattern::read(limited.pattern.view()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Fact {
        Fact::new(text.parse().expect("well formed")).expect("small")
    }

    fn observing(patterns: &[&str]) -> Manifest {
        let mut manifest = Manifest::of(&["console"]);
        let patterns = patterns.iter().map(|text| pattern(text));
        patterns.for_each(|pattern| manifest.limit(Right::Observe, pattern));
        manifest
    }

    fn includes(manifest: &Manifest, granted: &Manifest) -> bool {
        excess(manifest, granted).is_none()
    }

    #[test]
    fn nobody_grants_more_than_they_have() {
        let whole = Manifest::of(&["workspace/*", "console", "dataspace/observe"]);
        assert!(includes(
            &whole,
            &Manifest::of(&["workspace/*", "workspace/read", "console"])
        ));
        assert!(!includes(&Manifest::of(&["web/get"]), &Manifest::of(&["web/*"])));
        assert!(includes(&whole, &observing(&["<_>"])));
        let jobs = observing(&["<group <rec job> {}>"]);
        assert!(includes(&jobs, &observing(&["<group <rec job> {0: <lit 1>}>"])));
        assert!(!includes(&jobs, &observing(&["<group <rec job> {0: <lit 1>}>", "<_>"])));
        assert!(!includes(&jobs, &Manifest::of(&["dataspace/observe"])));
        assert!(!includes(&jobs, &Manifest::of(&["dataspace/*"])));
        let mut asserting = Manifest::default();
        asserting.limit(Right::Assert, pattern("<group <rec job> {}>"));
        assert!(!includes(&jobs, &asserting));
    }
}
