//! The name of this version of Duet.
//!
//! INVARIANT: two builds with the same name make the same code of the same texts.

/// The release, and the beginning of the hash of what makes code of texts: compiler, standard
/// library and host procedures.
pub(crate) fn number() -> &'static str {
    concat!(
        env!("CARGO_PKG_VERSION"),
        " (code ",
        include_str!(concat!(env!("OUT_DIR"), "/code_name")),
        ")"
    )
}

/// The name by which journals and messages call this version.
pub(crate) fn name() -> &'static str {
    concat!(
        "duet ",
        env!("CARGO_PKG_VERSION"),
        " (code ",
        include_str!(concat!(env!("OUT_DIR"), "/code_name")),
        ")"
    )
}
