//! Names like a mistyped one, for commands and comma commands.
//!
//! INVARIANT: a name is similar to itself and to its own beginnings, and nothing is similar to the
//! empty name.
//! It knows no command. Read next: `command.rs`.

/// The names that a person may have meant, in their order.
pub(crate) fn similar(name: &str, known: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let is_near =
        |known: &&str| !name.is_empty() && (known.starts_with(name) || distance(known, name) <= 1 + name.len() / 5);
    known.filter(is_near).collect()
}

/// How many letters must be put in, left out, replaced or swapped with their neighbour to make one
/// word of another.
///
/// Source: "optimal string alignment", the restricted Damerau–Levenshtein distance.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    let mut last = None;
    for (i, letter) in from.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, other) in to.iter().enumerate() {
            let mut least = (row[j] + usize::from(letter != *other))
                .min(row[j + 1] + 1)
                .min(next[j] + 1);
            if j > 0 && last == Some(*other) && to[j - 1] == letter {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(letter);
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (from, to, expected) in [
            ("", "", 0),
            ("back", "back", 0),
            ("back", "bakc", 1),
            ("log", "", 3),
            ("goto", "got", 1),
            ("time", "tmie", 1),
            ("show", "wait", 4),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
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
