//! Secrets: texts that tools are told and journals are not.
//!
//! A program never sees a secret. It gets a stand-in, `{{secret:NAME}}`, and puts it where a tool wants the secret; only on the way to a tool that
//! takes secrets does it become what it stands for, and wherever a secret comes back it becomes the stand-in again.
//! INVARIANT: whatever reaches the core has passed [`Secrets::mask`]; whatever is revealed goes to a tool and nowhere else.
//! It does not find encodings of a secret, such as Base64; what a tool sends is its own affair.
//! Read next: `world.rs`.

use std::collections::BTreeMap;

use duet_runtime::driver::{Blob, Input, ToolFailure};
use duet_runtime::model::value::map_atoms;
use preserves::{IOValue, ValueImpl};

use super::failure::Kind;

/// Words in the name of an environment variable whose value is a secret unless somebody says otherwise.
const SECRET_NAMES: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL"];

/// Shorter values would be found in everything; they have a stand-in, and are not looked for in what comes back.
const SOUGHT_CHARACTERS_MIN: usize = 4;

/// The same for variables that are secrets by their names alone, among which are switches such as `true`.
const SOUGHT_UNASKED_CHARACTERS_MIN: usize = 8;

/// What surrounds the name in a stand-in.
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
    /// How long it must be to be looked for, in characters.
    sought_from: usize,
}

/// Says whether a variable's name says that its value is a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.iter().any(|word| name.contains(word))
}

impl Secrets {
    /// Takes the variables whose names say that they are secrets, and those that are named.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>, named: &[String]) -> Self {
        let is_named = |name: &str| named.iter().any(|known| known == name);
        let is_secret = |name: &str| is_secret_name(name) || is_named(name);
        let values = variables
            .into_iter()
            .filter(|(name, value)| is_secret(name) && !value.is_empty());
        let secret = |(name, value): (&str, &str)| {
            let sought_from = if is_named(name) {
                SOUGHT_CHARACTERS_MIN
            } else {
                SOUGHT_UNASKED_CHARACTERS_MIN
            };
            let value = value.to_owned();
            (name.to_owned(), Secret { value, sought_from })
        };
        Self {
            values: values.map(secret).collect(),
        }
    }

    /// Says whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns what stands in for the secret of a name, if there is one.
    pub fn stand_in(&self, name: &str) -> Option<String> {
        self.values.contains_key(name).then(|| stand_in(name))
    }

    /// Puts secrets in the place of their stand-ins.
    pub fn reveal(&self, payload: &IOValue) -> IOValue {
        let pairs: Vec<(String, &str)> = self
            .values
            .iter()
            .map(|(name, secret)| (stand_in(name), &*secret.value))
            .collect();
        replace(
            payload,
            &pairs.iter().map(|(from, to)| (&**from, *to)).collect::<Vec<_>>(),
        )
    }

    /// Puts stand-ins in the place of secrets, the longest first, so that none hides in another.
    pub fn mask(&self, value: &IOValue) -> IOValue {
        let pairs = self.sought();
        replace(
            value,
            &pairs.iter().map(|(from, to)| (*from, &**to)).collect::<Vec<_>>(),
        )
    }

    /// Masks what the world says. Contents that a tool is about to replace must stay what they are, so a secret in them is a failure of the call.
    ///
    /// # Errors
    /// `denied`, naming the secret; nothing has been replaced.
    pub fn mask_input(&self, input: Input) -> Result<Input, ToolFailure> {
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
            Input::Chunk { request, bytes } => Input::Chunk {
                request,
                bytes: self.mask_bytes(bytes),
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
            Input::Due { .. }
            | Input::Elapsed { .. }
            | Input::Interrupt
            | Input::Evaluate { .. }
            | Input::Abandon
            | Input::Merge { .. } => input,
        })
    }

    fn refuse_contents(&self, contents: &[Blob]) -> Result<(), ToolFailure> {
        let is_in = |value: &str| {
            contents
                .iter()
                .any(|blob| find(blob.as_bytes(), value.as_bytes()).is_some())
        };
        match self.sought().into_iter().find(|(value, _)| is_in(value)) {
            None => Ok(()),
            Some((_, name)) => Err(Kind::Denied.because(format!(
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

    fn mask_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let sought = self.sought();
        sought.iter().fold(bytes, |bytes, (from, to)| {
            replace_bytes(bytes, from.as_bytes(), to.as_bytes())
        })
    }

    /// The values that are looked for, longest first, each with its stand-in.
    fn sought(&self) -> Vec<(&str, String)> {
        let is_long = |secret: &Secret| secret.value.chars().count() >= secret.sought_from;
        let long = self.values.iter().filter(|(_, secret)| is_long(secret));
        let mut sought: Vec<(&str, String)> = long.map(|(name, secret)| (&*secret.value, stand_in(name))).collect();
        sought.sort_by_key(|(value, _)| std::cmp::Reverse(str::len(value)));
        sought
    }
}

fn stand_in(name: &str) -> String {
    format!("{}{name}{}", MARKS.0, MARKS.1)
}

/// Replaces texts in strings, symbols and bytes. Values that tools take and return are as deep as a record may be, or refused later.
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
