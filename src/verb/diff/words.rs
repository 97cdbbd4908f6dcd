//! Two texts, word by word.
//!
//! INVARIANT: the words that only one text has stand in brackets; long stretches that both have are
//! left out.
//! It knows no values; `asked.rs` finds the texts in them. Read next: `asked.rs`.

use similar::{ChangeTag, TextDiff};

/// The words around a difference that are shown.
const AROUND: usize = 6;

/// Writes the difference of two texts as `[-left-]{+right+}` between the words that both have.
pub(crate) fn words_apart(left: &str, right: &str) -> String {
    let difference = TextDiff::from_words(left, right);
    let mut text = String::new();
    let mut same: Vec<&str> = Vec::new();
    let mut open: Option<ChangeTag> = None;
    let changes: Vec<(ChangeTag, &str)> = difference
        .iter_all_changes()
        .map(|change| (change.tag(), change.value()))
        .collect();
    for (tag, word) in changes {
        if tag == ChangeTag::Equal {
            close(&mut text, open.take());
            same.push(word);
            continue;
        }
        if !same.is_empty() {
            text.push_str(&stretch(&same, text.is_empty(), false));
            same.clear();
        }
        if open != Some(tag) {
            close(&mut text, open);
            text.push_str(if tag == ChangeTag::Delete { "[-" } else { "{+" });
            open = Some(tag);
        }
        text.push_str(word);
    }
    close(&mut text, open);
    text.push_str(&stretch(&same, text.is_empty(), true));
    text.replace('\n', "⏎")
}

fn close(text: &mut String, open: Option<ChangeTag>) {
    match open {
        Some(ChangeTag::Delete) => text.push_str("-]"),
        Some(ChangeTag::Insert) => text.push_str("+}"),
        Some(ChangeTag::Equal) | None => {}
    }
}

/// Words that both texts have, without those far from any difference. Words and the spaces between
/// them count alike.
fn stretch(words: &[&str], is_first: bool, is_last: bool) -> String {
    let around = 2 * AROUND;
    let before = if is_first { 0 } else { around };
    let after = if is_last { 0 } else { around };
    if words.len() <= before + after + 2 {
        return words.concat();
    }
    let (head, tail) = (&words[..before], &words[words.len() - after..]);
    format!("{}…{}", head.concat(), tail.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_near_a_difference_are_shown() {
        let long: String = (0..40).map(|number| format!("w{number} ")).collect();
        for (left, right, expected) in [
            ("the old text", "the new text", "the [-old-]{+new+} text".to_owned()),
            ("a b", "a b c", "a b{+ c+}".to_owned()),
            ("", "all new", "{+all new+}".to_owned()),
            (
                &format!("{long}old"),
                &format!("{long}new"),
                "…w34 w35 w36 w37 w38 w39 [-old-]{+new+}".to_owned(),
            ),
        ] {
            assert_eq!(words_apart(left, right), expected);
        }
    }
}
