//! Rules for plain words: phrasings that are surely wrong.
//!
//! Owns the list. INVARIANT: a phrasing stands here only if no good sentence contains it.
//! It judges one sentence at a time and knows no grammar; a reader judges the rest.
//! Read next: `../support/tree.rs`.

use super::prose::paragraphs;
use super::rule::{Offence, mentions, planted, require, shown};
use crate::support::tree::{Source, sources};

/// This file, which names what it forbids.
const HERE: &str = "tests/it/tidy/words.rs";

/// Words that a sentence must not have in this order, and what to write.
const PHRASINGS: [(&[&str], &str); 24] = [
    (&["so many", "at most"], "\"at most N\", or \"the maximum\""),
    (&["at most so many"], "\"at most N\", or \"the maximum\""),
    (&["of which", "are no more"], "name the actor: \"it forgets these\""),
    (&["of which", "is no more"], "name the actor: \"it forgets this\""),
    (&["lie ready"], "\"are ready\""),
    (&["lies ready"], "\"is ready\""),
    (&["is told"], "\"receives\", \"learns\""),
    (&["are told"], "\"receive\", \"learn\""),
    (&["was told"], "\"received\", \"learned\""),
    (&["were told"], "\"received\", \"learned\""),
    (&["been told"], "\"received\", \"learned\""),
    (&["is believed"], "\"is trusted\", with the actor named"),
    (&["was believed"], "\"was trusted\", with the actor named"),
    (&["let rest"], "\"idle\", \"compacted\""),
    (&["half less"], "a percentage"),
    (&["third less"], "a percentage"),
    (&["quarter less"], "a percentage"),
    (&["fifth less"], "a percentage"),
    (&["sixth less"], "a percentage"),
    (&["eighth less"], "a percentage"),
    (&["tenth less"], "a percentage"),
    (&["previously"], "what holds today"),
    (&["refactored"], "what holds today"),
    (&["used to be"], "what holds today"),
];

/// Where the words occur one after the other, the offset of the first.
fn in_order(sentence: &str, words: &[&str]) -> Option<usize> {
    let mut from = 0;
    let mut first = None;
    for word in words {
        let at = from + sentence[from..].find(word)?;
        first = first.or(Some(at));
        from = at + word.len();
    }
    let whole = words.iter().all(|word| mentions(sentence, word));
    first.filter(|_| whole)
}

/// Whether a sentence has a clause with "what" for its subject: "What a library exports is read".
/// Questions are good sentences.
fn opens_with_what(sentence: &str) -> bool {
    let Some(rest) = sentence.strip_prefix("What ") else {
        return false;
    };
    let is_verb = |word: &str| ["is", "are", "was", "were"].contains(&word.trim_end_matches([',', '.']));
    !sentence.contains('?') && rest.split(' ').any(is_verb)
}

/// Nouns that a careless replacement puts in the place of a verb: "Savepoints a page".
const NOUNS: &[&str] = &[
    "Savepoints",
    "Operands",
    "Checkpoints",
    "Heads",
    "Facets",
    "Entities",
    "Instances",
];

/// Whether a sentence has a noun where its verb should be, before an article.
fn opens_with_noun_for_verb(sentence: &str) -> bool {
    let mut words = sentence.split(' ');
    let first = words.next().is_some_and(|word| NOUNS.contains(&word));
    first
        && words
            .next()
            .is_some_and(|word| ["a", "an", "the", "every", "each", "its"].contains(&word))
}

/// A sentence without what it quotes.
fn without_quotes(sentence: &str) -> String {
    sentence.split('`').step_by(2).collect::<Vec<_>>().join("…")
}

fn wrong_phrasings(files: &[Source]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in files.iter().filter(|source| source.path != HERE) {
        for paragraph in paragraphs(source) {
            for (offset, sentence) in paragraph.sentences() {
                let lower = without_quotes(&sentence).to_lowercase();
                let found = PHRASINGS.iter().filter(|(words, _)| in_order(&lower, words).is_some());
                let mut advice: Vec<String> = found
                    .map(|(words, instead)| format!("{:?}: write {instead}", words.join(" … ")))
                    .collect();
                if opens_with_what(&without_quotes(&sentence)) {
                    advice.push("\"What … is\": begin with a noun".to_owned());
                }
                if opens_with_noun_for_verb(&sentence) {
                    advice.push("a noun stands where the verb should be".to_owned());
                }
                let line = paragraph.line_at(offset);
                offences.extend(advice.into_iter().map(|what| Offence::at(source, line, what)));
            }
        }
    }
    offences
}

#[test]
fn sentences_are_plain() {
    require(
        &wrong_phrasings(&sources(&["rs", "scm", "sld", "md"])),
        "rewrite these sentences: a noun for the subject, an active verb, the actor named",
    );
    let text = "// So many copies lie\n// ready at most.\n\n\
                // What is it? It adds.\n// What a turn does is recorded.\n";
    let files = [
        planted("src/a.rs", text),
        planted("src/b.rs", "// It says `was told`; untold. At most two are ready.\n"),
        planted("c.md", "The keys of which it knows are no more.\n"),
    ];
    let found = shown(&wrong_phrasings(&files));
    let wrong: Vec<&str> = found
        .iter()
        .map(|offence| offence.split(": write").next().unwrap_or_default())
        .collect();
    assert_eq!(
        wrong,
        [
            "src/a.rs:1: \"so many … at most\"",
            "src/a.rs:1: \"lie ready\"",
            "src/a.rs:5: \"What … is\": begin with a noun",
            "c.md:1: \"of which … are no more\""
        ]
    );
}
