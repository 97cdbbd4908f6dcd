//! A number of things in words.
//!
//! INVARIANT: one thing is singular, none and several are plural.
//! It knows regular nouns only. Read next: `moment.rs`.

use std::fmt::Display;

/// Writes a number with the noun of what it counts, such as `1 turn`, `2 branches`, `0 replies`;
/// `noun` is the singular, and words before the noun itself are kept.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) {
        format!("{count} {noun}")
    } else {
        format!("{count} {}", plural(noun))
    }
}

/// Writes the plural of a regular noun.
fn plural(noun: &str) -> String {
    let ends_in = |endings: &[&str]| endings.iter().any(|ending| noun.ends_with(ending));
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        Some(_) | None if ends_in(&["s", "x", "ch", "sh"]) => format!("{noun}es"),
        Some(_) | None => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular() {
        for (count, noun, text) in [
            (1_u64, "turn", "1 turn"),
            (0, "turn", "0 turns"),
            (2, "branch", "2 branches"),
            (3, "reply", "3 replies"),
            (4, "day", "4 days"),
            (1, "open question", "1 open question"),
            (5, "open question", "5 open questions"),
        ] {
            assert_eq!(counted(count, noun), text);
        }
    }
}
