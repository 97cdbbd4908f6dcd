//! Compiles the standard library ahead, so that a program that starts reads and compiles nothing of it.
//!
//! It also has the linker pack what the loader must relocate, where the loader can read that.
//! INVARIANT: the image is made by the same kernel, of the same texts, as are built into the command; so it needs no key, and is never out of date.
//! The procedures of the host, which libraries may mention, are taken from the runtime's tables as text: building the runtime, and with it the journal's
//! database, a second time for this one list would cost more than all the rest. A test of `session/ahead.rs` compares the two.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use duet_kernel::primitive::{Body, Primitive};
use duet_modules::compile::compile_libraries;

const TABLES: &str = "runtime/src/scheme/host";

/// A procedure of the host: its name, and the least and the most arguments.
type Row = (String, u8, Option<u8>);

fn main() -> io::Result<()> {
    let changes = format!("cargo::rerun-if-changed=build.rs\ncargo::rerun-if-changed={TABLES}\n");
    io::stdout().write_all(changes.as_bytes())?;
    let rows = rows()?;
    let listed: Vec<String> = rows.iter().map(|row| format!("{row:?}\n")).collect();
    let primitive = |(name, least, most): Row| Primitive {
        name: name.leak(),
        parameters: "",
        least,
        most,
        documentation: "",
        body: Body::Host,
    };
    let primitives: Vec<Primitive> = rows.into_iter().map(primitive).collect();
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo tells a build where to write in no other way"
    )]
    let folder = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let folder = Path::new(&folder);
    if packs_relocations() {
        io::stdout().write_all(b"cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs\n")?;
    }
    fs::write(folder.join("host_procedures"), listed.concat())?;
    fs::write(
        folder.join("libraries.image"),
        compile_libraries(duet_stdlib::FILES, &primitives),
    )
}

/// Whether the command is for this machine and its loader reads packed relocations, as that of the GNU C library does from 2.36 on. Every start reads them all:
/// unpacked they are a twentieth of what an empty program keeps resident.
fn packs_relocations() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo tells a build of its target in no other way"
    )]
    let setting = |name: &str| env::var(name).unwrap_or_default();
    if setting("HOST") != setting("TARGET") || setting("CARGO_CFG_TARGET_ENV") != "gnu" {
        return false;
    }
    let library = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let version = library.ok().and_then(|said| String::from_utf8(said.stdout).ok());
    version
        .as_deref()
        .and_then(glibc_version)
        .is_some_and(|version| version >= (2, 36))
}

/// The version in `glibc 2.36`.
fn glibc_version(said: &str) -> Option<(u32, u32)> {
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// All rows of all tables, in the order of their names.
fn rows() -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for entry in fs::read_dir(TABLES)? {
        let text = fs::read_to_string(entry?.path())?;
        rows.extend(text.lines().filter_map(row));
    }
    rows.sort();
    Ok(rows)
}

/// The row that begins with this line: `"name" "parameters" [least, most] => …`.
fn row(line: &str) -> Option<Row> {
    let (name, rest) = line.trim_start().strip_prefix('"')?.split_once("\" \"")?;
    let (_, rest) = rest.split_once("\" [")?;
    let (arity, _) = rest.split_once("] =>")?;
    let (least, most) = arity.split_once(", ")?;
    let most = if most == "_" { None } else { Some(most.parse().ok()?) };
    Some((name.to_owned(), least.parse().ok()?, most))
}
