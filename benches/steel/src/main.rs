//! Runs one Scheme file on Steel, so that `benches/peers` can measure it.
//!
//! INVARIANT: the exit status is 0 only if the whole file ran. It does not check the file's answer;
//! `benches/peers` does.
//! Read next: `benches/scheme/cover.scm`, one of the files.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use steel::steel_vm::engine::Engine;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let Some(path) = env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: steel-peer FILE");
        return ExitCode::from(2);
    };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("cannot read {}: {error}", path.display());
            return ExitCode::from(2);
        }
    };
    match Engine::new().compile_and_run_raw_program_with_path(text, path) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
