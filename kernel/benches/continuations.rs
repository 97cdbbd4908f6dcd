//! How large is the image of a continuation that is parked some calls deep (bytes), and by how much
//! does it grow with each frame?

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]

#[path = "../tests/common/process.rs"]
mod process;

use std::io::{self, Write};

use duet_kernel::heap::Limits;
use duet_kernel::image::freeze;
use duet_kernel::machine::{Instance, Machine};
use process::{code_of, compiled};

/// Each frame keeps its procedure's arguments and one more value for later.
const PROGRAM: &str = "
    (define (wait) (wait))
    (define (below depth name)
      (let ((price (* depth 250)))
        (if (= depth 0) (wait) (list name price (below (- depth 1) name)))))
    (below DEPTH \"order 4711\")";

/// Returns the size of the image of a continuation `depth` calls deep, in bytes.
fn image_bytes(depth: usize) -> usize {
    let unit = compiled("continuations", &PROGRAM.replace("DEPTH", &depth.to_string()));
    let code = code_of(&[&unit]);
    let (mut machine, mut instance) = (Machine::new(), Instance::new(Limits { bytes_max: 64 << 20 }));
    let procedure = instance.unit_procedure(&code, code.units().len() - 1).unwrap();
    machine.start(&mut instance, procedure, &[]);
    machine.run(&mut instance, &code, &mut (depth as u64 + 100)).unwrap();
    let parked = machine.capture(&mut instance, &code).unwrap();
    freeze(&instance.heap, &[parked], &code).unwrap().length_bytes()
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let depths = [1, 10, 100, 1000];
    let sizes = depths.map(image_bytes);
    for (depth, bytes) in depths.iter().zip(sizes) {
        writeln!(out, "a continuation parked {depth} calls deep: {bytes} bytes")?;
    }
    let slope = (sizes[3] - sizes[0]) as f64 / (depths[3] - depths[0]) as f64;
    writeln!(
        out,
        "each frame: {slope:.1} bytes; goals: under 500 bytes at depth 1, 32 a frame"
    )
}
