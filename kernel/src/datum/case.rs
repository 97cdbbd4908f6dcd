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

/// What a character means for a capital sigma near it.
enum Neighbour {
    /// A letter that has case.
    Letter,
    /// A mark, such as an accent or an apostrophe, beyond which the neighbour is.
    Mark,
    /// Anything else.
    Other,
}

impl Neighbour {
    fn of(character: char) -> Neighbour {
        if matches!(character, 'a'..='z' | 'A'..='Z' | 'Α'..='Ρ' | 'Σ'..='Ω' | 'α'..='ω') {
            return Neighbour::Letter;
        }
        // The standard library does not offer these properties, but shows them by what it does.
        let is_final = |text: String| text.to_lowercase().starts_with("aς");
        match [format!("aΣ{character}"), format!("aΣ{character}a")].map(is_final) {
            [false, _] => Neighbour::Letter,
            [true, false] => Neighbour::Mark,
            [true, true] => Neighbour::Other,
        }
    }
}

/// Returns the lower-case form of a text in which a capital sigma may end a word.
///
/// Source: The Unicode Standard, 3.13, `Final_Sigma`.
pub(crate) fn lower_with_sigmas(text: impl Iterator<Item = char>) -> String {
    fn end_word(lower: &mut String, sigma: Option<usize>) {
        if let Some(place) = sigma {
            lower.replace_range(place..place + 'σ'.len_utf8(), "ς");
        }
    }
    let (mut lower, mut follows_letter, mut last_sigma) = (String::new(), false, None);
    for character in text {
        match Neighbour::of(character) {
            Neighbour::Letter => {
                last_sigma = (character == 'Σ' && follows_letter).then_some(lower.len());
                follows_letter = true;
            }
            Neighbour::Mark => {}
            Neighbour::Other => {
                end_word(&mut lower, last_sigma.take());
                follows_letter = false;
            }
        }
        lower.extend(character.to_lowercase());
    }
    end_word(&mut lower, last_sigma);
    lower
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
    fn sigmas_end_words_as_in_the_standard_library() {
        let alphabet = ['a', 'Σ', 'ς', ' ', '\'', '\u{345}', 'ʰ', 'ǅ', '中'];
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            let longer = |text: &String| alphabet.map(|character| format!("{text}{character}"));
            texts.extend(texts.iter().flat_map(longer).collect::<Vec<_>>());
        }
        for text in texts {
            assert_eq!(lower_with_sigmas(text.chars()), text.to_lowercase(), "{text}");
        }
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let text = format!("aΣ{character}aΣ{character} {character}Σ");
            assert_eq!(lower_with_sigmas(text.chars()), text.to_lowercase(), "{text}");
        }
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
