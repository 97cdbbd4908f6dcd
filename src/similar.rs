//! Names like a mistyped one, for commands and comma commands.
//!
//! INVARIANT: a name is similar to itself and to its own beginnings, and nothing is similar to the
//! empty name.
//! It knows no command. Read next: `command.rs`.

use strsim::osa_distance;

/// The names that a person may have meant, in their order.
pub(crate) fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let is_near =
        |known: &&str| !name.is_empty() && (known.starts_with(name) || osa_distance(known, name) <= 1 + name.len() / 5);
    known.filter(is_near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_finds_the_near_ones() {
        for (name, expected) in [
            ("rnu", ["run"].as_slice()),
            ("re", &["repl", "resume"]),
            ("xyz", &[]),
            ("", &[]),
        ] {
            assert_eq!(similar(name, ["run", "repl", "resume"].into_iter()), expected, "{name}");
        }
    }
}
