//! Names like a mistyped one, for commands and comma commands.
//!
//! INVARIANT: a name is similar to itself and to its own beginnings, and nothing is similar to the
//! empty name.
//! It knows no command. Read next: `surface/command.rs`.

use strsim::osa_distance;

/// The maximum number of names that an advice lists.
const LISTED: usize = 12;

/// The names that a person may have meant, in their order.
pub(crate) fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let is_near =
        |known: &&str| !name.is_empty() && (known.starts_with(name) || osa_distance(known, name) <= 1 + name.len() / 5);
    known.filter(is_near).collect()
}

/// The name that a person may have meant most likely; the first of several.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = similar(name, known).into_iter();
    near.min_by_key(|known| osa_distance(known, name))
}

/// Advises a name in the place of one that is none, of at least one that is known: the nearest, or
/// all if none is near.
pub(crate) fn advice(name: &str, known: &[String]) -> String {
    if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
        return format!("did you mean `{near}`?");
    }
    let listed: Vec<&str> = known.iter().take(LISTED).map(String::as_str).collect();
    match (known.len(), listed.join(", ")) {
        (1, only) => format!("there is only {only}"),
        (count, listed) if count > LISTED => format!("there are {listed} and {} more", count - LISTED),
        (_, listed) => format!("there are {listed}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_has_the_fewest_differences() {
        let known = ["workspace/read", "workspace/write", "workspace/*"];
        for (name, expected) in [
            ("workspace/raed", Some("workspace/read")),
            ("workspace/wrte", Some("workspace/write")),
            ("workspaec/*", Some("workspace/*")),
            ("http/get", None),
        ] {
            assert_eq!(nearest(name, known.into_iter()), expected, "{name}");
        }
    }

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
