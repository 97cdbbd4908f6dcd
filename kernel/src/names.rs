//! What whoever has the code tells of values that hold only positions in it.
//!
//! It does not know the code; `code.rs` does. Read next: `printer.rs`.

/// Resolves names that values hold only as positions.
pub trait Names {
    /// Returns the name of the primitive at this table position.
    fn primitive_name(&self, position: u32) -> &str;
    /// Returns the name of the procedure whose code starts at this position, if it has one.
    fn procedure_name(&self, position: u32) -> Option<&str>;
    /// Returns the fingerprint of the procedure whose code starts at this position.
    fn fingerprint(&self, _position: u32) -> Option<Fingerprint> {
        None
    }
    /// Returns one word for the opaque references of this class, if one is known.
    fn class_name(&self, _class: i64) -> Option<&str> {
        None
    }
}

/// The origin of a procedure's code, and its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The library that defines it, such as `(duet agents)`, or `(program)`.
    pub library: String,
    /// The procedure's name, if it has one.
    pub name: Option<String>,
    /// BLAKE3 of its code.
    pub hash: [u8; 32],
    /// What it costs to make, in units of fuel.
    pub fuel: u64,
}

impl Fingerprint {
    /// The fingerprint of a primitive, whose code is the kernel's.
    pub fn of_primitive(name: &str) -> Self {
        Self {
            library: "(duet kernel)".to_owned(),
            name: Some(name.to_owned()),
            hash: *blake3::hash(name.as_bytes()).as_bytes(),
            fuel: 0,
        }
    }
}
