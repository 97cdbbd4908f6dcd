//! Secrets: texts that tools receive and journals do not.
//!
//! A program never sees a secret. It gets a placeholder, `{{secret:NAME}}`, and puts it into the
//! payload of a call; on the way to a tool that takes secrets the secret replaces the placeholder,
//! and on the way back the placeholder replaces the secret.
//! INVARIANT: every input for the run has passed [`Secrets::mask`], and whatever is cut into pieces
//! has passed a [`Redactor`] before; a revealed value goes to a tool and nowhere else.
//! It does not find encodings of a secret, such as Base64, and does not control what a tool sends.
//! Read next: `tool/secret/stream.rs`.

use std::collections::BTreeMap;

use duet_runtime::driver::{Blob, Input, ToolFailure};
use duet_runtime::model::peer::PeerEvent;
use duet_runtime::model::value::{Fact, map_atoms};
use preserves::{IOValue, ValueImpl};

use super::failure::Kind;
use stream::{Masked, Redactor};

pub mod stream;

/// Words that mark the name of an environment variable whose value is a secret.
const SECRET_NAMES: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL"];

/// The variable that names a journal: on a server, its address may have a password.
const JOURNAL: &str = "DUET_JOURNAL";

/// The minimum length of a named secret that is masked, in characters; a shorter one would occur by
/// chance in many texts.
const MASKED_CHARACTERS_MIN: usize = 4;

/// The same for variables that are secrets only by their names, because some of them are switches
/// such as `true`.
const MASKED_BY_NAME_CHARACTERS_MIN: usize = 8;

/// The marks around the name in a placeholder.
const MARKS: (&str, &str) = ("{{secret:", "}}");

/// Secrets by name.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// The values by name.
    values: BTreeMap<String, Secret>,
}

/// A secret's value.
#[derive(Clone, Debug)]
struct Secret {
    value: String,
    /// The minimum length at which it is masked, in characters.
    masked_from: usize,
}

/// Says whether a variable's name marks its value as a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.iter().any(|word| name.contains(word))
}

impl Secrets {
    /// Takes the variables whose names mark them as secrets, and those in `named`.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>, named: &[String]) -> Self {
        let is_named = |name: &str| named.iter().any(|known| known == name);
        let is_address = |name: &str, value: &str| name == JOURNAL && value.contains("://");
        let is_secret = |name: &str, value: &str| is_secret_name(name) || is_named(name) || is_address(name, value);
        let values = variables
            .into_iter()
            .filter(|(name, value)| is_secret(name, value) && !value.is_empty());
        let secret = |(name, value): (&str, &str)| {
            let masked_from = if is_named(name) {
                MASKED_CHARACTERS_MIN
            } else {
                MASKED_BY_NAME_CHARACTERS_MIN
            };
            let value = value.to_owned();
            (name.to_owned(), Secret { value, masked_from })
        };
        Self {
            values: values.map(secret).collect(),
        }
    }

    /// Says whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the placeholder of a secret, if there is one of this name.
    pub fn stand_in(&self, name: &str) -> Option<String> {
        self.values.contains_key(name).then(|| placeholder(name))
    }

    /// Replaces placeholders by their secrets.
    pub fn reveal(&self, payload: &IOValue) -> IOValue {
        let pairs: Vec<(String, &str)> = self
            .values
            .iter()
            .map(|(name, secret)| (placeholder(name), &*secret.value))
            .collect();
        replace(
            payload,
            &pairs.iter().map(|(from, to)| (&**from, *to)).collect::<Vec<_>>(),
        )
    }

    /// Replaces secrets by their placeholders, the longest first, because one secret may contain
    /// another.
    pub fn mask(&self, value: &IOValue) -> IOValue {
        let sought = self.masked();
        if sought.is_empty() {
            return value.clone();
        }
        map_atoms(value, &|atom| mask_atom(atom, &sought))
    }

    /// Replaces secrets in a text, such as one that a person types.
    pub fn mask_text(&self, text: &str) -> String {
        text_of(masked_bytes(text.as_bytes(), &self.masked()))
    }

    /// Replaces secrets in bytes that are whole.
    pub fn mask_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        masked_bytes(bytes, &self.masked())
    }

    /// Makes a stream whose secrets are masked.
    pub(crate) fn redactor(&self) -> Redactor {
        Redactor::new(self.masked())
    }

    /// The length of the longest masked secret, in bytes; 0 without secrets.
    pub(crate) fn longest_bytes(&self) -> usize {
        self.masked().first().map_or(0, |masked| masked.secret.len())
    }

    /// Finds the placeholder of a secret that goes across one of the places in some bytes.
    pub(crate) fn cut_by(&self, bytes: &[u8], places: &[usize]) -> Option<String> {
        let is_cut = |masked: &Masked| {
            let length = masked.secret.len();
            let mut starts = bytes
                .windows(length)
                .enumerate()
                .filter(|(_, window)| **window == masked.secret);
            starts.any(|(start, _)| places.iter().any(|place| start < *place && *place < start + length))
        };
        let masked = self.masked().into_iter().find(is_cut)?;
        Some(text_of(masked.placeholder))
    }

    /// Masks an input. The contents of an undo note must stay as they are, so a call whose contents
    /// hold a secret fails.
    ///
    /// # Errors
    /// `denied`, naming the secret; the call has replaced nothing.
    pub(crate) fn mask_input(&self, input: Input) -> Result<Input, ToolFailure> {
        if self.is_empty() {
            return Ok(input);
        }
        let outcome = |outcome: Result<IOValue, ToolFailure>| {
            outcome
                .map(|value| self.mask(&value))
                .map_err(|failure| self.mask_failure(&failure))
        };
        Ok(match input {
            Input::ToolResult {
                request,
                outcome: found,
            } => Input::ToolResult {
                request,
                outcome: outcome(found),
            },
            Input::Orphaned { key, outcome: found } => Input::Orphaned {
                key,
                outcome: outcome(found),
            },
            Input::Answer { request, value } => Input::Answer {
                request,
                value: self.mask(&value),
            },
            Input::Prepared { request, value, by } => Input::Prepared {
                request,
                value: self.mask(&value),
                by,
            },
            Input::Chunk { request, bytes } => Input::Chunk {
                request,
                bytes: self.mask_bytes(&bytes),
            },
            Input::Kept {
                request,
                note,
                contents,
            } => {
                self.refuse_contents(&contents)?;
                Input::Kept {
                    request,
                    note: self.mask(&note),
                    contents,
                }
            }
            Input::Tell { value, stays } => {
                let masked = Fact::new(self.mask(&value.value()));
                // A placeholder may be longer than its secret.
                let value = masked.map_err(|error| Kind::OutputLimit.because(error.to_string()))?;
                Input::Tell { value, stays }
            }
            Input::Said { peer, what } => Input::Said {
                peer,
                what: what.into_iter().map(|said| self.mask_said(said)).collect(),
            },
            Input::Join { .. }
            | Input::Grant { .. }
            | Input::Patch { .. }
            | Input::Restart { .. }
            | Input::Leave { .. }
            | Input::Due { .. }
            | Input::Elapsed { .. }
            | Input::Interrupt
            | Input::Evaluate { .. }
            | Input::Abandon
            | Input::Merge { .. } => input,
        })
    }

    fn mask_said(&self, said: PeerEvent) -> PeerEvent {
        match said {
            PeerEvent::Assert { to, name, value } => PeerEvent::Assert {
                to,
                name,
                value: self.mask(&value),
            },
            PeerEvent::Message { to, value } => PeerEvent::Message {
                to,
                value: self.mask(&value),
            },
            PeerEvent::Retract { .. } | PeerEvent::Sync { .. } => said,
        }
    }

    fn refuse_contents(&self, contents: &[Blob]) -> Result<(), ToolFailure> {
        let is_in = |masked: &Masked| contents.iter().any(|blob| has(blob.as_bytes(), &masked.secret));
        match self
            .masked()
            .into_iter()
            .find(is_in)
            .map(|masked| text_of(masked.placeholder))
        {
            None => Ok(()),
            Some(name) => Err(Kind::Denied.because(format!(
                "a file holds {name}, so it cannot be kept in the journal and is not replaced"
            ))),
        }
    }

    fn mask_failure(&self, failure: &ToolFailure) -> ToolFailure {
        let message = self.mask(&IOValue::new(failure.message.clone()));
        ToolFailure {
            kind: failure.kind.clone(),
            message: message
                .as_string()
                .map_or_else(String::new, std::borrow::Cow::into_owned),
            details: failure
                .details
                .as_slice()
                .iter()
                .map(|detail| self.mask(detail))
                .collect(),
        }
    }

    /// Returns the masked texts, longest first.
    fn masked(&self) -> Vec<Masked> {
        let forms = |(name, secret): (&String, &Secret)| {
            let (whole, bare) = (secret.value.as_str(), secret.value.trim());
            // A key from a file has a line end that is left out where the key is used.
            let bare = Some(bare).filter(|bare| *bare != whole);
            let long = [Some(whole), bare]
                .into_iter()
                .flatten()
                .filter(|form| form.chars().count() >= secret.masked_from);
            let masked = |form: &str| Masked {
                secret: form.as_bytes().to_vec(),
                placeholder: placeholder(name).into_bytes(),
            };
            long.map(masked).collect::<Vec<_>>()
        };
        let mut sought: Vec<Masked> = self.values.iter().flat_map(forms).collect();
        sought.sort_by_key(|masked| std::cmp::Reverse(masked.secret.len()));
        sought
    }
}

fn placeholder(name: &str) -> String {
    format!("{}{name}{}", MARKS.0, MARKS.1)
}

/// Returns the first name whose stand-in is in a text.
pub(super) fn stand_in(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(MARKS.0)?;
    rest.split_once(MARKS.1).map(|(name, _)| name)
}

/// Returns the parts of a text between its stand-ins, which are no secrets themselves.
pub fn without_stand_ins(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, (_, after))) = rest
        .split_once(MARKS.0)
        .and_then(|(before, inside)| Some((before, inside.split_once(MARKS.1)?)))
    {
        parts.push(before);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// Replaces texts in strings, symbols and bytes.
fn replace(value: &IOValue, pairs: &[(&str, &str)]) -> IOValue {
    if pairs.is_empty() {
        return value.clone();
    }
    map_atoms(value, &|atom| replace_atom(atom, pairs))
}

fn replace_atom(value: &IOValue, pairs: &[(&str, &str)]) -> IOValue {
    let replaced = |text: &str| {
        pairs
            .iter()
            .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    if let Some(text) = value.as_string() {
        return IOValue::new(replaced(&text));
    }
    if let Some(text) = value.as_symbol() {
        return IOValue::symbol(replaced(&text));
    }
    if let Some(bytes) = value.as_bytestring() {
        let replaced = |bytes: Vec<u8>, (from, to): &(&str, &str)| replace_bytes(bytes, from.as_bytes(), to.as_bytes());
        return IOValue::bytes(pairs.iter().fold(bytes.into_owned(), replaced));
    }
    value.clone()
}

fn replace_bytes(bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::new();
    let mut rest = &bytes[..];
    while let Some(at) = find(rest, from) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    if replaced.is_empty() && rest.len() == bytes.len() {
        return bytes;
    }
    replaced.extend_from_slice(rest);
    replaced
}

fn find(bytes: &[u8], sought: &[u8]) -> Option<usize> {
    bytes.windows(sought.len()).position(|window| window == sought)
}

fn has(bytes: &[u8], sought: &[u8]) -> bool {
    find(bytes, sought).is_some()
}

fn mask_atom(value: &IOValue, sought: &[Masked]) -> IOValue {
    let masked = |text: &str| text_of(masked_bytes(text.as_bytes(), sought));
    if let Some(text) = value.as_string() {
        return IOValue::new(masked(&text));
    }
    if let Some(text) = value.as_symbol() {
        return IOValue::symbol(masked(&text));
    }
    if let Some(bytes) = value.as_bytestring() {
        return IOValue::bytes(masked_bytes(&bytes, sought));
    }
    value.clone()
}

fn masked_bytes(bytes: &[u8], sought: &[Masked]) -> Vec<u8> {
    if !sought.iter().any(|masked| has(bytes, &masked.secret)) {
        return bytes.to_vec();
    }
    let mut redactor = Redactor::new(sought.to_vec());
    let mut masked = redactor.push(bytes);
    masked.extend(redactor.finish());
    masked
}

/// Secrets and placeholders are whole characters, so what is left between them is.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let variables = [
            ("API_KEY", "hush-hush"),
            ("LONG_KEY", "hush-hush-hush"),
            ("PIN", "12345"),
            ("HOME", "ann"),
            ("SHORT_KEY", "ab"),
            ("SWITCH_KEY", "true"),
        ];
        Secrets::of(variables, &["PIN".to_owned()])
    }

    #[track_caller]
    fn check(value: &str, expected: &str) {
        let (value, expected): (IOValue, IOValue) =
            (value.parse().expect("a value"), expected.parse().expect("a value"));
        let masked = secrets().mask(&value);
        assert_eq!(masked, expected);
        assert_eq!(secrets().reveal(&masked), value, "revealing gives the value back");
    }

    #[test]
    fn a_text_without_its_stand_ins_is_the_parts_between() {
        assert_eq!(without_stand_ins("plain"), ["plain"]);
        assert_eq!(without_stand_ins("{{secret:A}}"), ["", ""]);
        assert_eq!(
            without_stand_ins("a{{secret:A}}b{{secret:B}}c{{secret:"),
            ["a", "b", "c{{secret:"]
        );
    }

    #[test]
    fn the_address_of_a_journal_is_a_secret_and_its_path_is_none() {
        let masked = |journal: &str| {
            let secrets = Secrets::of([(JOURNAL, journal)], &[]);
            secrets.values.contains_key(JOURNAL)
        };
        assert!(masked("postgres://team:secret@host/duet"));
        assert!(!masked("runs/journal.sqlite"));
    }

    #[test]
    fn secrets_become_stand_ins_wherever_they_stand() {
        check("\"a hush-hush b\"", "\"a {{secret:API_KEY}} b\"");
        check("\"hush-hush-hush\"", "\"{{secret:LONG_KEY}}\"");
        check(
            "<r \"12345\" [{\"hush-hush\": 12345}]>",
            "<r \"{{secret:PIN}}\" [{\"{{secret:API_KEY}}\": 12345}]>",
        );
        check("#{\"hush-hush\" 1}", "#{\"{{secret:API_KEY}}\" 1}");
        check("'hush-hush'", "'{{secret:API_KEY}}'");
        check("#\"xhush-hush\"", "#\"x{{secret:API_KEY}}\"");
        check("[\"ann\" \"cab\" \"true\" 1.5 #t]", "[\"ann\" \"cab\" \"true\" 1.5 #t]");
    }

    #[test]
    fn a_secret_with_a_line_end_is_masked_without_it_too() {
        let secrets = Secrets::of([("API_KEY", "hush-hush\n")], &[]);
        assert_eq!(
            secrets.mask_text("hush-hush, hush-hush\n"),
            "{{secret:API_KEY}}, {{secret:API_KEY}}"
        );
    }

    #[test]
    fn failures_and_contents_hold_no_secret() {
        use duet_runtime::model::identity::RequestId;
        let request = RequestId(1);
        let failure = Kind::Failed.with("no hush-hush here", [("text", IOValue::new("12345".to_owned()))]);
        let masked = secrets().mask_input(Input::ToolResult {
            request,
            outcome: Err(failure),
        });
        let Ok(Input::ToolResult {
            outcome: Err(failure), ..
        }) = masked
        else {
            panic!("{masked:?}")
        };
        assert_eq!(failure.message, "no {{secret:API_KEY}} here");
        assert!(
            format!("{:?}", failure.details).contains("{{secret:PIN}}"),
            "{:?}",
            failure.details
        );
        let contents = vec![Blob::new(b"key=hush-hush".to_vec()).expect("small")];
        let kept = Input::Kept {
            request,
            note: IOValue::new(true),
            contents,
        };
        let refused = secrets().mask_input(kept).expect_err("it cannot be kept");
        assert_eq!(
            refused.message,
            "a file holds {{secret:API_KEY}}, so it cannot be kept in the journal and is not replaced"
        );
    }
}
