//! Characters.
//!
//! INVARIANT: a character is a Unicode scalar value. Properties and mappings come from the Rust
//! standard library and change only with its version of Unicode; categories come from a crate.
//! It does not know strings.
//! Read next: `datum/case.rs`.

use unicode_general_category::get_general_category;

use super::PrimitiveError;
use super::argument::{character_at, integer_at};
use super::cost;
use crate::datum::case::{fold_simple, to_lower_simple, to_upper_simple};
use crate::value::Value;

primitives! {
    /// Returns whether the argument is a character.
    "char?" "object" [1, 1] free => |_, arguments| Ok(Value::boolean(arguments[0].as_character().is_some()));

    /// Returns the Unicode scalar value of a character, an exact integer.
    /// Fails with `wrong-type` if the argument is not a character.
    "char->integer" "char" [1, 1] free => |_, arguments| Ok(Value::length(character_at(arguments, 0)? as usize));

    /// Returns the character with this Unicode scalar value.
    /// Fails with `wrong-type` if `n` is not an exact integer, with `out-of-range` if it is not
    /// from 0 to 55295 or 57344 to 1114111.
    "integer->char" "n" [1, 1] free => |context, arguments| {
        let scalar = integer_at(context.heap, arguments, 0, char::MAX as usize)?;
        match char::from_u32(scalar as u32) {
            Some(character) => Ok(Value::character(character)),
            None => Err(PrimitiveError::OutOfRange { argument: 0 }),
        }
    };

    /// Returns whether all characters are the same.
    /// Fails with `wrong-type` if an argument is not a character.
    "char=?" "char₁ char₂ …" [1, _] (cost::arguments) => |_, arguments| ordered(arguments, |c| c, |a, b| a == b);

    /// Returns whether the characters increase by scalar value.
    /// Fails with `wrong-type` if an argument is not a character.
    "char<?" "char₁ char₂ …" [1, _] (cost::arguments) => |_, arguments| ordered(arguments, |c| c, |a, b| a < b);

    /// Returns whether the characters decrease by scalar value.
    /// Fails with `wrong-type` if an argument is not a character.
    "char>?" "char₁ char₂ …" [1, _] (cost::arguments) => |_, arguments| ordered(arguments, |c| c, |a, b| a > b);

    /// Returns whether the characters never decrease by scalar value.
    /// Fails with `wrong-type` if an argument is not a character.
    "char<=?" "char₁ char₂ …" [1, _] (cost::arguments) => |_, arguments| ordered(arguments, |c| c, |a, b| a <= b);

    /// Returns whether the characters never increase by scalar value.
    /// Fails with `wrong-type` if an argument is not a character.
    "char>=?" "char₁ char₂ …" [1, _] (cost::arguments) => |_, arguments| ordered(arguments, |c| c, |a, b| a >= b);

    /// Compares as `char=?`, after `char-foldcase`.
    /// Fails with `wrong-type` if an argument is not a character.
    "char-ci=?" "char₁ char₂ …" [1, _] (cost::arguments) => |_, arguments| {
        ordered(arguments, fold_simple, |a, b| a == b)
    };

    /// Compares as `char<?`, after `char-foldcase`.
    /// Fails with `wrong-type` if an argument is not a character.
    "char-ci<?" "char₁ char₂ …" [1, _] (cost::arguments) => |_, arguments| {
        ordered(arguments, fold_simple, |a, b| a < b)
    };

    /// Compares as `char>?`, after `char-foldcase`.
    /// Fails with `wrong-type` if an argument is not a character.
    "char-ci>?" "char₁ char₂ …" [1, _] (cost::arguments) => |_, arguments| {
        ordered(arguments, fold_simple, |a, b| a > b)
    };

    /// Compares as `char<=?`, after `char-foldcase`.
    /// Fails with `wrong-type` if an argument is not a character.
    "char-ci<=?" "char₁ char₂ …" [1, _] (cost::arguments) => |_, arguments| {
        ordered(arguments, fold_simple, |a, b| a <= b)
    };

    /// Compares as `char>=?`, after `char-foldcase`.
    /// Fails with `wrong-type` if an argument is not a character.
    "char-ci>=?" "char₁ char₂ …" [1, _] (cost::arguments) => |_, arguments| {
        ordered(arguments, fold_simple, |a, b| a >= b)
    };

    /// Returns whether the character is alphabetic (Unicode property Alphabetic).
    /// Fails with `wrong-type` if the argument is not a character.
    "char-alphabetic?" "char" [1, 1] free => |_, arguments| test(arguments, char::is_alphabetic);

    /// Returns whether the character is a decimal digit of any script (Unicode category Nd).
    /// Fails with `wrong-type` if the argument is not a character.
    "char-numeric?" "char" [1, 1] free => |_, arguments| test(arguments, |character| digit_value(character).is_some());

    /// Returns whether the character is white space (Unicode property White_Space).
    /// Fails with `wrong-type` if the argument is not a character.
    "char-whitespace?" "char" [1, 1] free => |_, arguments| test(arguments, char::is_whitespace);

    /// Returns whether the character is an upper-case letter (Unicode property Uppercase).
    /// Fails with `wrong-type` if the argument is not a character.
    "char-upper-case?" "char" [1, 1] free => |_, arguments| test(arguments, char::is_uppercase);

    /// Returns whether the character is a lower-case letter (Unicode property Lowercase).
    /// Fails with `wrong-type` if the argument is not a character.
    "char-lower-case?" "char" [1, 1] free => |_, arguments| test(arguments, char::is_lowercase);

    /// Returns the Unicode general category of a character, a symbol such as `Lu`.
    /// Fails with `wrong-type` if the argument is not a character.
    "char-general-category" "char" [1, 1] free => |context, arguments| {
        let category = get_general_category(character_at(arguments, 0)?).abbreviation();
        Ok(context.heap.intern(category)?)
    };

    /// Returns the value, 0 to 9, of a decimal digit of any script, or `#f`.
    /// Fails with `wrong-type` if the argument is not a character.
    "digit-value" "char" [1, 1] free => |_, arguments| {
        Ok(digit_value(character_at(arguments, 0)?).map_or(Value::FALSE, Value::small))
    };

    /// Returns the upper-case form of a character; the character itself if the form is not one
    /// character.
    /// Fails with `wrong-type` if the argument is not a character.
    "char-upcase" "char" [1, 1] free => |_, arguments| {
        Ok(Value::character(to_upper_simple(character_at(arguments, 0)?)))
    };

    /// Returns the lower-case form of a character; the character itself if it has none.
    /// Fails with `wrong-type` if the argument is not a character.
    "char-downcase" "char" [1, 1] free => |_, arguments| {
        Ok(Value::character(to_lower_simple(character_at(arguments, 0)?)))
    };

    /// Returns the simple Unicode case folding of a character, the same for all characters that
    /// differ only in case.
    /// Fails with `wrong-type` if the argument is not a character.
    "char-foldcase" "char" [1, 1] free => |_, arguments| Ok(Value::character(fold_simple(character_at(arguments, 0)?)));
}

/// Returns whether every two neighbours, mapped by `key`, satisfy a relation.
fn ordered(
    arguments: &[Value],
    key: fn(char) -> char,
    relation: fn(&char, &char) -> bool,
) -> Result<Value, PrimitiveError> {
    let mut last = key(character_at(arguments, 0)?);
    let mut truth = true;
    for argument in 1..arguments.len() {
        let next = key(character_at(arguments, argument)?);
        truth &= relation(&last, &next);
        last = next;
    }
    Ok(Value::boolean(truth))
}

fn test(arguments: &[Value], predicate: fn(char) -> bool) -> Result<Value, PrimitiveError> {
    Ok(Value::boolean(predicate(character_at(arguments, 0)?)))
}

/// The zeros of all scripts, in order: each is followed by the digits from one to nine.
///
/// Source: Unicode 16, category Nd.
const ZEROS: &[u32] = &[
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
    0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x10d40, 0x11066, 0x110f0, 0x11136,
    0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x116d0, 0x116da, 0x11730, 0x118e0, 0x11950, 0x11bf0,
    0x11c50, 0x11d50, 0x11da0, 0x11f50, 0x16130, 0x16a60, 0x16ac0, 0x16b50, 0x16d70, 0x1ccf0, 0x1d7ce, 0x1d7d8,
    0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0,
];

/// Returns the value of a decimal digit.
fn digit_value(character: char) -> Option<i32> {
    let scalar = character as u32;
    let following = ZEROS.partition_point(|zero| *zero <= scalar);
    let value = scalar - ZEROS[..following].last()?;
    (value < 10).then_some(value as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_digits_are_numeric_and_ascending() {
        assert!(ZEROS.is_sorted());
        for character in ZEROS.iter().flat_map(|zero| (0..10).map(move |digit| zero + digit)) {
            assert!(
                char::from_u32(character).is_some_and(char::is_numeric),
                "{character:#x}"
            );
        }
    }
}
