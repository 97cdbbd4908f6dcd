#!/usr/bin/env bash
# preserves 5.0.0-rc.10 (Rust): the order of integers beyond 128 bits is not one, so sets and
# dictionaries of the crate lose their meaning.
#
# The specification gives integers their mathematical order, and the crate compares them so while
# both fit into the same of its three representations (signed 128 bits, unsigned 128 bits, longer).
# Between two of them the sign of one number decides alone: -12 is greater than 2^128, and 2^128 is
# greater than -12. `Set` and `Map` are B-trees over this order, so a set that is collected keeps an
# element twice, and a dictionary does not find a key that it has. Nothing fails.
#
# Output:
#
#   -12 against 2^128: Greater; 2^128 against -12: Greater
#   the set of -12, 2^128 and -12 has 3 elements
#   the dictionary with the keys 0 to 29 and 2^128 has 31 keys; 2^128: None
#
# A program that needs one element of each compares what the crate encodes, whose bytes are right.
#
# Needs cargo and the network: preserves 5.0.0-rc.10 and num-bigint 0.4.6 from crates.io, in a
# temporary folder. Exits with 0 if the output is that above.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat > "$folder/Cargo.toml" <<'MANIFEST'
[package]
name = "order"
version = "0.0.0"
edition = "2021"

[dependencies]
num-bigint = "=0.4.6"
preserves = "=5.0.0-rc.10"
MANIFEST
cat > "$folder/src/main.rs" <<'PROGRAM'
use num_bigint::BigInt;
use preserves::{IOValue, Map, Set, SignedInteger};

fn integer(number: BigInt) -> IOValue {
    IOValue::new(SignedInteger::from(number))
}

fn main() {
    let large = || integer(BigInt::from(1) << 128);
    let small = |number: i64| integer(BigInt::from(number));
    let (one, other) = (small(-12).cmp(&large()), large().cmp(&small(-12)));
    println!("-12 against 2^128: {one:?}; 2^128 against -12: {other:?}");
    let set: Set<IOValue> = [small(-12), large(), small(-12)].into_iter().collect();
    println!("the set of -12, 2^128 and -12 has {} elements", set.len());
    let mut dictionary = Map::new();
    for number in 0..30 {
        dictionary.insert(small(number), number);
        if number == 10 {
            dictionary.insert(large(), -1);
        }
    }
    let (count, found) = (dictionary.len(), dictionary.get(&large()));
    println!("the dictionary with the keys 0 to 29 and 2^128 has {count} keys; 2^128: {found:?}");
}
PROGRAM
output=$(cargo run --quiet --manifest-path "$folder/Cargo.toml" --target-dir "$folder/target")
echo "$output"
diff - <(echo "$output") <<'EXPECTED'
-12 against 2^128: Greater; 2^128 against -12: Greater
the set of -12, 2^128 and -12 has 3 elements
the dictionary with the keys 0 to 29 and 2^128 has 31 keys; 2^128: None
EXPECTED
