//! Duet's standard library: Scheme sources, embedded.
//!
//! Owns the list of files.
//! INVARIANT: every `.sld` and `.scm` file of this folder is in the list.
//! It does not read, find or expand libraries.

macro_rules! embed {
    ($( $path:literal, )*) => {
        /// Every file: its path, with `/`, and its text.
        pub const FILES: &[(&str, &str)] = &[$( ($path, include_str!(concat!("../", $path))) ),*];
    };
}

embed! {
    "duet/base.sld",
    "duet/dataspace.scm",
    "duet/dataspace.sld",
    "duet/internal/control.sld",
    "duet/internal/dynamic.scm",
    "duet/internal/exceptions.scm",
    "duet/internal/files.scm",
    "duet/internal/lazy.sld",
    "duet/internal/lists.scm",
    "duet/internal/lists.sld",
    "duet/internal/parameters.scm",
    "duet/internal/ports.scm",
    "duet/internal/ports.sld",
    "duet/internal/prompts.scm",
    "duet/internal/sequences.scm",
    "duet/internal/sequences.sld",
    "duet/internal/syntax.sld",
    "duet/syntax.sld",
    "scheme/base.sld",
    "scheme/case-lambda.sld",
    "scheme/char.sld",
    "scheme/complex.sld",
    "scheme/cxr.sld",
    "scheme/file.sld",
    "scheme/inexact.sld",
    "scheme/lazy.sld",
    "scheme/process-context.sld",
    "scheme/r5rs.sld",
    "scheme/read.sld",
    "scheme/time.sld",
    "scheme/write.sld",
}
