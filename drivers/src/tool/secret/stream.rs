//! Masking of a stream: a secret is found however its bytes are cut into pieces.
//!
//! INVARIANT: no byte of a secret leaves before the bytes after it show whether it is one; the
//! pieces of a stream together become what the whole would become.
//! It does not know which texts are secrets; `../secret.rs` does.
//! Read next: `../secret.rs`.

/// A text that is masked, and its placeholder.
#[derive(Clone, Debug)]
pub(super) struct Masked {
    pub(super) secret: Vec<u8>,
    pub(super) placeholder: Vec<u8>,
}

/// A stream whose secrets are masked.
#[derive(Debug, Default)]
pub struct Redactor {
    /// The masked texts, longest first.
    sought: Vec<Masked>,
    /// The newest bytes, which may begin a secret.
    kept: Vec<u8>,
}

/// The text at a place of the stream.
enum Occurrence<'a> {
    Secret(&'a Masked),
    /// The bytes up to the end may be the beginning of a secret.
    Beginning,
    Other,
}

impl Redactor {
    pub(super) fn new(sought: Vec<Masked>) -> Self {
        Self {
            sought,
            kept: Vec::new(),
        }
    }

    /// Takes the next bytes and returns those that are sure.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.masked(bytes, false)
    }

    /// Returns the rest at the end of the stream.
    pub fn finish(&mut self) -> Vec<u8> {
        self.masked(&[], true)
    }

    fn masked(&mut self, bytes: &[u8], is_end: bool) -> Vec<u8> {
        if self.sought.is_empty() {
            return bytes.to_vec();
        }
        self.kept.extend_from_slice(bytes);
        let mut shown = Vec::with_capacity(self.kept.len());
        let mut at = 0;
        while at < self.kept.len() {
            match self.at(at) {
                Occurrence::Beginning if !is_end => break,
                Occurrence::Secret(masked) => {
                    shown.extend_from_slice(&masked.placeholder);
                    at += masked.secret.len();
                }
                Occurrence::Beginning | Occurrence::Other => {
                    let whole = self.whole_at(at);
                    shown.extend_from_slice(whole.map_or(&self.kept[at..=at], |masked| &masked.placeholder));
                    at += whole.map_or(1, |masked| masked.secret.len());
                }
            }
        }
        self.kept.drain(..at);
        shown
    }

    /// The longest secret decides, as soon as there are bytes enough to tell.
    fn at(&self, at: usize) -> Occurrence<'_> {
        let rest = &self.kept[at..];
        for masked in &self.sought {
            if rest.starts_with(&masked.secret) {
                return Occurrence::Secret(masked);
            }
            if masked.secret.starts_with(rest) {
                return Occurrence::Beginning;
            }
        }
        Occurrence::Other
    }

    fn whole_at(&self, at: usize) -> Option<&Masked> {
        let rest = &self.kept[at..];
        self.sought.iter().find(|masked| rest.starts_with(&masked.secret))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let sought = [
            ("hush-hush-hush", "{L}"),
            ("hush-hush", "{S}"),
            ("ush!", "{U}"),
            ("{", "{B}"),
        ];
        let masked = |(secret, placeholder): &(&str, &str)| Masked {
            secret: secret.as_bytes().to_vec(),
            placeholder: placeholder.as_bytes().to_vec(),
        };
        Redactor::new(sought.iter().map(masked).collect())
    }

    #[test]
    fn a_secret_is_found_however_the_stream_is_cut() {
        for (text, expected) in [
            ("", ""),
            ("a hush-hush b", "a {S} b"),
            ("hush-hush-hush", "{L}"),
            ("hush-hush-hus", "{S}-hus"),
            ("hush-hush!", "{S}!"),
            ("hush-hus", "hush-hus"),
            ("hhush-hush-hushh", "h{L}h"),
            ("hush-hush-h{hush!", "{S}-h{B}h{U}"),
        ] {
            for first in 0..=text.len() {
                for second in first..=text.len() {
                    let mut redactor = redactor();
                    let parts = [&text[..first], &text[first..second], &text[second..]];
                    let mut shown: Vec<u8> = parts.iter().flat_map(|part| redactor.push(part.as_bytes())).collect();
                    shown.extend(redactor.finish());
                    assert_eq!(String::from_utf8_lossy(&shown), expected, "{parts:?}");
                }
            }
        }
    }

    #[test]
    fn only_what_may_begin_a_secret_waits() {
        let mut redactor = redactor();
        assert_eq!(redactor.push(b"line\nhus"), b"line\n");
        assert_eq!(redactor.push(b"ky\n"), b"husky\n");
    }
}
