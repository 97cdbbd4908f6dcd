//! Case mappings of characters and texts that the Rust standard library lacks.
//!
//! The standard library has the full mappings, of one character to several; this file derives the
//! simple ones and folding from them.
//! INVARIANT: folding is idempotent.
//! It does not change strings in the heap.
//! Read next: `primitive/string.rs`.
//!
//! Source: The Unicode Standard, 3.13 and 5.18; `CaseFolding.txt`, `SpecialCasing.txt`.

/// Returns the upper-case form of a character if it is one character, else the character.
pub(crate) fn to_upper_simple(character: char) -> char {
    // The Greek letters with iota subscript have a simple mapping to title case besides the full
    // one to two characters.
    let distance = match character {
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => 8,
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => 9,
        _ if character.is_ascii() => return character.to_ascii_uppercase(),
        _ => return only(character.to_uppercase()).unwrap_or(character),
    };
    char::from_u32(character as u32 + distance).unwrap_or(character)
}

/// Returns the lower-case form of a character.
pub(crate) fn to_lower_simple(character: char) -> char {
    match character {
        '\u{130}' => 'i',
        _ if character.is_ascii() => character.to_ascii_lowercase(),
        _ => only(character.to_lowercase()).unwrap_or(character),
    }
}

/// Returns the simple case folding of a character, the same for all that differ only in case.
pub(crate) fn fold_simple(character: char) -> char {
    match character {
        '\u{130}' => character,
        '\u{1e9e}' => '\u{df}',
        '\u{1fd3}' => '\u{390}',
        '\u{1fe3}' => '\u{3b0}',
        '\u{fb05}' => '\u{fb06}',
        _ => folds_up_or_not(character).unwrap_or_else(|| to_lower_simple(to_upper_simple(character))),
    }
}

/// Returns the full case folding of a character, for caseless comparison of texts.
pub(crate) fn fold_full(character: char) -> impl Iterator<Item = char> {
    let (whole, parts) = match (character, folds_up_or_not(character)) {
        ('\u{1e9e}', _) => (None, "ss"),
        (_, Some(folded)) => (Some(folded), ""),
        (_, None) => (None, ""),
    };
    let mapped = (whole.is_none() && parts.is_empty())
        .then(|| character.to_uppercase().flat_map(char::to_lowercase))
        .into_iter()
        .flatten();
    whole.into_iter().chain(parts.chars()).chain(mapped)
}

/// Returns the folding of a character for which it is not the lower-case form of the upper-case
/// form, or that is in ASCII.
fn folds_up_or_not(character: char) -> Option<char> {
    match character {
        // Most texts have nothing but these.
        _ if character.is_ascii() => Some(character.to_ascii_lowercase()),
        // The dotless i has the same upper-case form as `i`, but is not a variant of it.
        '\u{131}' => Some(character),
        // Cherokee had upper case first, so its letters fold to upper case.
        '\u{13a0}'..='\u{13f5}' => Some(character),
        '\u{13f8}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => Some(to_upper_simple(character)),
        _ => None,
    }
}

fn only(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next();
    if characters.next().is_none() { first } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(character: char, [upper, lower, folded]: [char; 3], full: &str) {
        let found = [
            to_upper_simple(character),
            to_lower_simple(character),
            fold_simple(character),
        ];
        assert_eq!(found, [upper, lower, folded], "{character}");
        assert_eq!(fold_full(character).collect::<String>(), full, "{character}");
    }

    #[test]
    fn characters_map_and_fold() {
        check('a', ['A', 'a', 'a'], "a");
        check('Z', ['Z', 'z', 'z'], "z");
        check('ß', ['ß', 'ß', 'ß'], "ss");
        check('ẞ', ['ẞ', 'ß', 'ß'], "ss");
        check('ς', ['Σ', 'ς', 'σ'], "σ");
        check('ſ', ['S', 'ſ', 's'], "s");
        check('İ', ['İ', 'i', 'İ'], "i\u{307}");
        check('ı', ['I', 'ı', 'ı'], "ı");
        check('ᾳ', ['ᾼ', 'ᾳ', 'ᾳ'], "αι");
        check('ᾈ', ['ᾈ', 'ᾀ', 'ᾀ'], "ἀι");
        check('ꭰ', ['Ꭰ', 'ꭰ', 'Ꭰ'], "Ꭰ");
        check('Ꭰ', ['Ꭰ', 'ꭰ', 'Ꭰ'], "Ꭰ");
        check('ﬅ', ['ﬅ', 'ﬅ', 'ﬆ'], "st");
        check('ΐ', ['ΐ', 'ΐ', 'ΐ'], "ι\u{308}\u{301}");
        check('K', ['K', 'k', 'k'], "k");
        check('ა', ['Ა', 'ა', 'ა'], "ა");
    }

    #[test]
    fn folding_twice_is_folding_once() {
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            assert_eq!(
                fold_simple(fold_simple(character)),
                fold_simple(character),
                "{character}"
            );
            let once: String = fold_full(character).collect();
            let twice: String = once.chars().flat_map(fold_full).collect();
            assert_eq!(once, twice, "{character}");
        }
    }

    #[test]
    fn characters_that_differ_in_case_fold_alike() {
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let exceptions = ['\u{130}', '\u{131}'];
            let lower = to_lower_simple(character);
            if !exceptions.contains(&character) {
                assert_eq!(fold_simple(lower), fold_simple(character), "{character}");
                assert_eq!(
                    fold_simple(to_upper_simple(character)),
                    fold_simple(character),
                    "{character}"
                );
            }
        }
    }
}
