//! Inclusion of patterns: whether one pattern matches all that another one matches.
//!
//! INVARIANT: an answer of true is certain; where inclusion is not evident from the shapes, the
//! answer is false.
//! It does not match values; `pattern.rs` does.
//! Read next: `../gate/right.rs`.

use super::pattern::{Pattern, Step};

impl Pattern {
    /// Says whether this pattern evidently matches every value that `narrower` matches. Captures do
    /// not count.
    pub fn includes(&self, narrower: &Self) -> bool {
        match (self, narrower) {
            (Self::Bind(inner), _) => inner.includes(narrower),
            (_, Self::Bind(inner)) => self.includes(inner),
            (Self::Discard, _) => true,
            (_, Self::Literal(value)) => self.matches(&value.value()).is_some(),
            (Self::Literal(_), _) | (_, Self::Discard) => false,
            (
                Self::Group { kind, size, entries },
                Self::Group {
                    kind: kind_within,
                    size: size_within,
                    entries: entries_within,
                },
            ) => {
                let is_in = |(step, wanted): &(Step, Self)| {
                    let found = entries_within.iter().find(|(within, _)| within == step);
                    match found {
                        Some((_, within)) => wanted.includes(within),
                        None => wanted.matches_anything() && is_present(step, *size_within),
                    }
                };
                kind == kind_within && (size.is_none() || size == size_within) && entries.iter().all(is_in)
            }
        }
    }

    fn matches_anything(&self) -> bool {
        match self {
            Self::Discard => true,
            Self::Bind(inner) => inner.matches_anything(),
            Self::Literal(_) | Self::Group { .. } => false,
        }
    }
}

/// Says whether every compound with `size` entries has the entry of a step.
fn is_present(step: &Step, size: Option<u64>) -> bool {
    match step {
        Step::Index(index) => size.is_some_and(|size| *index < size),
        Step::Key(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use preserves::IOValue;

    use super::*;
    use crate::model::codec::Codec;

    fn pattern(text: &str) -> Pattern {
        let value: IOValue = text.parse().expect("well formed");
        Pattern::decode(&value).expect("a pattern")
    }

    #[test]
    fn inclusion_is_certain_or_denied() {
        let cases = [
            ("<_>", "<bind <_>>", true),
            ("<_>", "<group <rec job> {}>", true),
            ("<lit 1>", "<bind <lit 1>>", true),
            ("<lit 1>", "<lit 2>", false),
            ("<lit 1>", "<_>", false),
            ("<group <rec job> {}>", "<_>", false),
            ("<group <rec job> {0: <bind <_>>}>", "<group <rec job> {0: <_>}>", true),
            (
                "<group <rec job> {0: <_>}>",
                "<group <rec job> {0: <lit 1> 1: <_>}>",
                true,
            ),
            ("<group <rec job> {0: <_>}>", "<group <rec job> {}>", false),
            ("<group <rec job> {0: <_>}>", "<group <rec job 1> {}>", true),
            ("<group <rec job> {1: <_>}>", "<group <rec job 1> {}>", false),
            ("<group <rec job> {0: <lit 1>}>", "<group <rec job> {0: <_>}>", false),
            (
                "<group <rec job> {0: <lit 1>}>",
                "<group <rec job> {0: <lit 2>}>",
                false,
            ),
            ("<group <rec job> {}>", "<group <rec secret> {}>", false),
            ("<group <rec job> {}>", "<group <arr> {}>", false),
            ("<group <rec job 1> {}>", "<group <rec job> {}>", false),
            ("<group <rec job 1> {}>", "<group <rec job 1> {0: <_>}>", true),
            ("<group <rec job> {0: <_>}>", "<lit <job 1>>", true),
            ("<group <rec job> {0: <_>}>", "<lit <job>>", false),
            ("<group <rec job> {0: <_>}>", "<lit <secret 1>>", false),
            ("<group <dict> {a: <_>}>", "<group <dict> {a: <lit 1> b: <_>}>", true),
            ("<group <dict> {a: <_>}>", "<group <dict 1> {}>", false),
        ];
        for (wider, narrower, expected) in cases {
            let is_included = pattern(wider).includes(&pattern(narrower));
            assert_eq!(is_included, expected, "{wider} includes {narrower}");
        }
    }
}
