//! Bytes at the boundary: what the strict reader takes is written as the same bytes, also after it
//! was in a heap.

use duet_journal::packed::{PackedLimits, PackedValue, read_value};
use duet_kernel::boundary::{self, NoCapabilities};
use duet_kernel::heap::{self, AllLive, Heap};

const LIMITS: PackedLimits = PackedLimits {
    bytes_max: 1 << 20,
    ..boundary::LIMITS
};

/// Reads the bytes as a value, and into a heap.
pub fn run(bytes: &[u8]) {
    let packed = PackedValue::from_bytes(bytes.to_vec());
    let tree = read_value(bytes);
    assert_eq!(packed.is_ok(), tree.is_ok(), "a value is a value: {packed:?}, {tree:?}");
    if let (Ok(packed), Ok(tree)) = (&packed, &tree) {
        assert_eq!(&packed.to_value(), tree, "both ways read the same");
        let again = PackedValue::from_value(tree).expect("what was read can be written");
        assert_eq!(again.as_bytes(), bytes, "a value has one form");
    }
    let mut heap = Heap::new(heap::Limits { bytes_max: 1 << 22 });
    let Ok(value) = boundary::decode(&mut heap, bytes, LIMITS, &mut NoCapabilities) else {
        return;
    };
    assert!(tree.is_ok(), "what enters the heap is a value");
    let mut roots = [value];
    for _ in 0..2 {
        let written = boundary::encode(&heap, roots[0], LIMITS, &mut NoCapabilities);
        assert_eq!(written.ok(), packed.clone().ok(), "a value leaves the heap as it came");
        heap.collect_major(&mut [&mut roots], &AllLive);
    }
}
