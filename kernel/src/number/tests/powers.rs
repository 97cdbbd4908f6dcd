//! Powers of floats, and numbers beyond all floats.

use super::*;

#[test]
fn powers_of_floats_are_the_nearest_floats() {
    check(
        "expt -2.0 3.0 => -8.0
         expt -2 3.0 => -8.0
         expt 10.0 -5 => 0.00001
         expt 10.0 -5.0 => 0.00001
         expt 1e10 7 => 1e70
         expt 1.1 4 => 1.4641000000000004
         expt -1.1 3 => -1.3310000000000004
         expt 10.0 308 => 1e308
         expt 10.0 309 => +inf.0
         expt -10.0 309 => -inf.0
         expt 10.0 -323 => 1e-323
         expt 10.0 -324 => 0.0
         expt -10.0 -325 => -0.0
         expt 2.0 -1074 => 5e-324
         expt 0.5 1074 => 5e-324
         expt 5e-324 -1 => +inf.0
         expt 1.0000000000000002 1000000000000 => 1.000222069258653
         expt 1.5 1000000000000000000 => +inf.0
         expt 1.5 -1000000000000000000 => 0.0
         expt -0.0 -3 => -inf.0
         expt -0.0 4 => 0.0
         expt -inf.0 -3 => -0.0
         expt +nan.0 0 => 1.0
         expt 2.5 +inf.0 => +inf.0",
    );
}
