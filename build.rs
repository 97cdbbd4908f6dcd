//! Compiles the standard library ahead, so that a program that starts reads and compiles nothing of
//! it.
//!
//! INVARIANT: the image is made by the same kernel, of the same texts, as are built into the
//! command; so it needs no key, and is never out of date.
//! The procedures of the host, which libraries may mention, are taken from the runtime's tables as
//! text: building the runtime, and with it the journal's database, a second time for this one list
//! would cost more than all the rest. A test of `owner/owned_run/ahead.rs` compares the two.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use duet_kernel::primitive::{Cost, Primitive, PrimitiveBody};
use duet_modules::compile::compile_libraries;

const TABLES: &str = "runtime/src/scheme/host";

/// The sources of the compiler.
const COMPILER: [&str; 2] = ["kernel/src", "modules/src"];

/// The characters of the compiler's version that people see.
const CODE_NAME_LENGTH: usize = 8;

/// A procedure of the host: its name, and the least and the most arguments.
type Row = (String, u8, Option<u8>);

/// The variable that keeps the names of procedures in the binary, for a profiler.
const KEEP_SYMBOLS: &str = "DUET_SYMBOLS";

/// The option of the linker that packs the places to which the system adds the address of the
/// program when it starts: without it they take 5 MB of the binary and a tenth of the start.
const PACKED_RELOCATIONS: &str = "cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs\n";

/// The first version of the GNU C library that reads them.
const UNPACKING: [u32; 2] = [2, 36];

/// Lets the linker make a release smaller. The names of procedures are a quarter of the binary.
#[expect(clippy::disallowed_methods, reason = "cargo tells a build script by the environment")]
fn shrink_release() -> io::Result<()> {
    let is_set_to = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let mut lines = format!("cargo::rerun-if-env-changed={KEEP_SYMBOLS}\n");
    if is_set_to("PROFILE", "release") && is_set_to("CARGO_CFG_TARGET_OS", "linux") {
        if env::var_os(KEEP_SYMBOLS).is_none() {
            lines += "cargo::rustc-link-arg-bins=-Wl,--strip-all\n";
        }
        let is_native = env::var("HOST").ok() == env::var("TARGET").ok();
        if is_native && is_set_to("CARGO_CFG_TARGET_ENV", "gnu") && library_version() >= Some(UNPACKING) {
            lines += PACKED_RELOCATIONS;
        }
    }
    io::stdout().write_all(lines.as_bytes())
}

/// The version of the machine's GNU C library, which a binary that is built here needs anyway.
fn library_version() -> Option<[u32; 2]> {
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let (major, minor) = told.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some([major.parse().ok()?, minor.parse().ok()?])
}

fn main() -> io::Result<()> {
    let changes = format!("cargo::rerun-if-changed=build.rs\ncargo::rerun-if-changed={TABLES}\n");
    io::stdout().write_all(changes.as_bytes())?;
    shrink_release()?;
    let rows = rows()?;
    let listed: Vec<String> = rows.iter().map(|row| format!("{row:?}\n")).collect();
    let primitive = |(name, least, most): Row| Primitive {
        name: name.leak(),
        parameters: "",
        least,
        most,
        documentation: "",
        cost: Cost::Counted,
        body: PrimitiveBody::Host,
    };
    let primitives: Vec<Primitive> = rows.into_iter().map(primitive).collect();
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo tells a build where to write in no other way"
    )]
    let folder = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let folder = Path::new(&folder);
    fs::write(folder.join("host_procedures"), listed.concat())?;
    let version = compiler_version(&listed.concat())?;
    fs::write(folder.join("code_name"), &version[..CODE_NAME_LENGTH])?;
    fs::write(folder.join("compiler_version"), version)?;
    fs::write(
        folder.join("libraries.image"),
        compile_libraries(duet_stdlib::FILES, &primitives),
    )
}

/// The hash of everything that the code of a compiled library depends on besides texts: the sources
/// of the compiler and of the standard library, and the host's procedures.
fn compiler_version(host: &str) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(host.as_bytes());
    let mut paths = Vec::new();
    for folder in COMPILER {
        sources(Path::new(folder), &mut paths)?;
    }
    for (path, text) in duet_stdlib::FILES {
        hasher.update(path.as_bytes());
        hasher.update(blake3::hash(text.as_bytes()).as_bytes());
    }
    paths.sort();
    for path in paths {
        let text = fs::read(&path)?;
        hasher.update(path.to_string_lossy().as_bytes());
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(&text);
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// Lists the Rust files below a folder.
fn sources(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
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
