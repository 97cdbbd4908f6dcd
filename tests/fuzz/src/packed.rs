//! Bytes at the boundary: what one reader of packed Preserves takes the others take too, and it is written as the same bytes.

use duet_journal::packed::{PackedValue, read_value};
use duet_kernel::boundary::{self, Limits, NoCapabilities};
use duet_kernel::heap::{self, AllLive, Heap};

const LIMITS: Limits = Limits {
    depth_max: duet_journal::packed::MAX_DEPTH,
    bytes_max: 1 << 20,
};

/// Reads the bytes at the edge of the kernel and at that of the journal.
pub fn run(bytes: &[u8]) {
    let journal = PackedValue::from_bytes(bytes.to_vec());
    let tree = boundary::unpack(bytes, LIMITS);
    assert_eq!(
        journal.is_ok(),
        tree.is_ok(),
        "both readers agree: {journal:?}, {tree:?}"
    );
    if let (Ok(packed), Ok(tree)) = (&journal, &tree) {
        assert_eq!(&packed.to_value(), tree, "both readers read the same");
        assert_eq!(read_value(bytes).as_ref(), Ok(tree));
        assert_eq!(
            boundary::pack(tree, LIMITS).as_deref(),
            Ok(bytes),
            "a value has one text of bytes"
        );
        let again = PackedValue::from_value(tree).expect("what was read can be written");
        assert_eq!(again.as_bytes(), bytes);
    }
    let mut heap = Heap::new(heap::Limits { bytes_max: 1 << 22 });
    let Ok(value) = boundary::decode(&mut heap, bytes, LIMITS, &mut NoCapabilities) else {
        return;
    };
    assert!(tree.is_ok(), "what enters the heap is a value");
    let written = boundary::encode(&heap, value, LIMITS, &mut NoCapabilities);
    assert_eq!(written.as_deref(), Ok(bytes), "a value leaves the heap as it came");
    let mut roots = [value];
    heap.collect_major(&mut [&mut roots], &AllLive);
    let [value] = roots;
    let written = boundary::encode(&heap, value, LIMITS, &mut NoCapabilities);
    assert_eq!(written.as_deref(), Ok(bytes), "a collection changes nothing");
}
