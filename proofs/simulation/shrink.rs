//! Shrinking: the part of a list of operations that still shows a difference.
//!
//! INVARIANT: the result still shows it, and no single operation can be left out.
//! Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002).

/// Leaves out what is not needed for `shows`.
pub(crate) fn shrink<T: Clone>(mut all: Vec<T>, shows: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut length = all.len().div_ceil(2);
    while length > 0 {
        let before = all.len();
        let mut start = 0;
        while start < all.len() {
            let mut part = all.clone();
            part.drain(start..(start + length).min(all.len()));
            if shows(&part) {
                all = part;
            } else {
                start += length;
            }
        }
        if length > 1 {
            length = length.div_ceil(2);
        } else if all.len() == before {
            break;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(needed: &[u32]) {
        let shows = |part: &[u32]| needed.iter().all(|number| part.contains(number));
        assert_eq!(shrink((0..100).collect(), shows), needed);
    }

    #[test]
    fn what_is_needed_is_left() {
        check(&[]);
        check(&[17]);
        check(&[0, 50, 51, 99]);
    }
}
