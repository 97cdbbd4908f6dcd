//! Exported runs whose large records are in forged parts.
//!
//! INVARIANT: each file is one that only its parts, or what says which they are, make wrong.
//! The forging of whole bodies and snapshots is in `../trust.rs`.
//! Read next: `../support/raw_log.rs`.

use std::fs;

use duet_journal::packed::read_value;
use duet_journal::{BlobHash, PackedValue};
use preserves::{IOValue, ValueImpl};

use crate::support::desk::Desk;
use crate::support::raw_log::RawLog;

/// A program whose turns hold the same long text, which grows.
const TALK: &str = r#"(define (text from to)
  (let loop ((n from) (words '()))
    (if (= n to)
        (apply string-append (reverse words))
        (loop (+ n 1) (cons (number->string (* n n 7919)) words)))))
(let loop ((turn 0))
  (assert! (record 'talk (text 0 (+ 4000 (* turn 400)))))
  (if (< turn 3) (begin (sleep 1) (loop (+ turn 1)))))
(display "the password is kept")
"#;

fn exported() -> (Desk, RawLog) {
    let desk = Desk::new(&[("talk.scm", TALK)]);
    desk.check("run talk.scm", 0, "the password is kept");
    desk.check("export talk talk.duet", 0, "");
    let log = RawLog::of(&desk.path("talk.duet"));
    (desk, log)
}

/// Requires that a file is refused with these words, and nothing is imported.
#[track_caller]
fn check_refused(desk: &Desk, log: &RawLog, words: &str) {
    let path = desk.path("forged.duet");
    log.write(&path);
    let said = desk.duet("import forged.duet --journal forged");
    assert!([1, 3].contains(&said.code) && said.output.is_empty(), "{said:?}");
    assert!(said.errors.contains(words), "{said:?}");
    assert!(!desk.path("forged").exists(), "nothing was imported");
    fs::remove_file(path).unwrap();
}

/// Changes the fields of each body that is in parts: length, levels, first, names, last, added,
/// outline.
fn change_parts(log: &mut RawLog, change: impl Fn(&mut Vec<IOValue>)) {
    log.change_records(|bytes| {
        let record = read_value(bytes).unwrap();
        let mut fields: Vec<IOValue> = record.iter().map(IOValue::from).collect();
        let body = fields.last().unwrap().clone();
        if body.label().as_symbol().is_none_or(|label| label != "parts") {
            return bytes.to_vec();
        }
        let mut parts: Vec<IOValue> = body.iter().map(IOValue::from).collect();
        change(&mut parts);
        *fields.last_mut().unwrap() = IOValue::record(body.label().into(), parts);
        let made = IOValue::record(record.label().into(), fields);
        PackedValue::from_value(&made).unwrap().into_bytes()
    });
}

fn names(value: &IOValue) -> Vec<IOValue> {
    value.iter().map(IOValue::from).collect()
}

fn name(hash: BlobHash) -> IOValue {
    IOValue::bytes(hash.as_bytes().to_vec())
}

const DAMAGED: &str = "is no whole export of a run";

#[test]
fn a_file_that_is_put_together_as_it_was_is_imported() {
    let (desk, mut log) = exported();
    change_parts(&mut log, |_| {});
    log.write(&desk.path("same.duet"));
    assert_eq!(
        fs::read(desk.path("same.duet")).unwrap(),
        fs::read(desk.path("talk.duet")).unwrap()
    );
    let said = desk.check("import same.duet --journal same", 0, "");
    assert!(said.errors.starts_with("talk: "), "{said:?}");
    let parts = desk.duet("fsck --journal same").output;
    assert!(parts.contains(" parts"), "{parts}");
}

#[test]
fn a_file_without_a_part_is_refused() {
    let (desk, log) = exported();
    let parts: Vec<BlobHash> = log.blobs().keys().copied().collect();
    let mut refused = 0;
    for part in parts {
        let mut log = RawLog::of(&desk.path("talk.duet"));
        log.commits
            .iter_mut()
            .for_each(|commit| commit.retain(|entry| entry.code != b'B' || entry.fields[0] != part.as_bytes()));
        // One in three is enough.
        if part.as_bytes()[0] % 3 == 0 {
            check_refused(&desk, &log, &part.to_string());
            refused += 1;
        }
    }
    assert!(refused > 3, "{refused} parts");
}

#[test]
fn a_file_with_swapped_parts_is_refused() {
    let (desk, mut log) = exported();
    change_parts(&mut log, |fields| {
        let mut all = names(&fields[3]);
        all.swap(1, 2);
        fields[3] = IOValue::new(all);
    });
    check_refused(&desk, &log, "turn 1 of actor 0 differs in its actions");
}

#[test]
fn a_file_with_a_part_of_another_length_is_refused() {
    for length in [3, 4001, 1 << 20] {
        let (desk, mut log) = exported();
        let other = log.add_blob(vec![b'x'; length]);
        change_parts(&mut log, |fields| {
            let mut all = names(&fields[3]);
            all[0] = name(other);
            fields[3] = IOValue::new(all);
        });
        check_refused(&desk, &log, DAMAGED);
    }
}

#[test]
fn few_bytes_that_stand_for_many_are_refused_or_held_one_at_a_time() {
    let (desk, mut log) = exported();
    let part = log.add_blob(vec![b'x'; 4000]);
    let list = log.add_blob(part.as_bytes().repeat(125));
    let lists = log.add_blob(list.as_bytes().repeat(125));
    for levels in [2, 3] {
        let top = if levels == 3 {
            log.add_blob(lists.as_bytes().repeat(125))
        } else {
            lists
        };
        change_parts(&mut log, |fields| {
            fields[0] = IOValue::new(64 << 20);
            fields[1] = IOValue::new(levels);
            fields[3] = IOValue::new(vec![name(top)]);
        });
        check_refused(&desk, &log, DAMAGED);
    }
}

#[test]
fn a_body_that_says_another_length_is_refused() {
    for length in [16_384_i64, 1, 60 << 20] {
        let (desk, mut log) = exported();
        change_parts(&mut log, |fields| fields[0] = IOValue::new(length));
        check_refused(&desk, &log, DAMAGED);
    }
}

#[test]
fn a_body_with_an_outline_of_another_one_is_refused() {
    let (desk, mut log) = exported();
    change_parts(&mut log, |fields| {
        fields[6] = IOValue::new(vec![IOValue::new("mail/send")])
    });
    check_refused(&desk, &log, "equal turns have equal bodies and outlines");
}

#[test]
fn a_part_with_other_contents_under_a_right_name_is_refused() {
    let (desk, mut log) = exported();
    let (old, bytes) = log
        .blobs()
        .into_iter()
        .find(|(_, bytes)| bytes.len() > 600 && bytes[..].iter().all(|byte: &u8| byte.is_ascii_digit()))
        .unwrap();
    let mut forged = bytes;
    forged[300] = if forged[300] == b'1' { b'2' } else { b'1' };
    let new = log.add_blob(forged);
    change_parts(&mut log, |fields| {
        for field in [3, 5] {
            let all = names(&fields[field]).into_iter();
            let all = all.map(|each| if each == name(old) { name(new) } else { each });
            fields[field] = IOValue::new(all.collect::<Vec<_>>());
        }
    });
    check_refused(&desk, &log, "differs in its actions");
}

#[test]
fn a_secret_across_two_parts_is_masked_in_an_export() {
    let secret = "qxzvkwjy-hunter-2q";
    let program = format!(
        "(define answer (await (user-input :prompt \"Password?\")))\n{}",
        TALK.replace(
            "(reverse words)",
            "(let ((all (reverse words))) (apply append (map (lambda (word) (list word answer)) all)))"
        )
    );
    let desk = Desk::new(&[("talk.scm", &program)]);
    let said = desk.duet(&format!("run talk.scm --answer {secret}"));
    assert_eq!(said.code, 0, "{said:?}");
    desk.check(&format!("export talk masked.duet --redact {secret}"), 0, "");
    let log = RawLog::of(&desk.path("masked.duet"));
    let mut joined: Vec<u8> = Vec::new();
    for (_, bytes) in log.blobs() {
        joined.extend(bytes);
        joined.push(0);
    }
    for length in [4, secret.len()] {
        let piece = &secret.as_bytes()[..length];
        assert!(!joined.windows(length).any(|window| window == piece), "{length}");
    }
    desk.check("import masked.duet --journal masked", 0, "");
    let shown = desk.duet("facts talk talk --journal masked").output;
    assert!(
        shown.contains("******************"),
        "{}",
        &shown[..200.min(shown.len())]
    );
}
