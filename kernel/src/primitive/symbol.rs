//! Symbols and keywords.
//!
//! INVARIANT: equal names are the same symbol.
//! It does not intern.
//! Read next: `primitive/vector.rs`.

use super::argument::{object_at, string_at, symbol_at};
use super::cost;
use crate::heap::Kind;
use crate::value::Value;

primitives! {
    /// Returns whether the argument is a symbol.
    "symbol?" "object" [1, 1] free => |context, arguments| Ok(Value::boolean(context.heap.is_symbol(arguments[0])));

    /// Returns whether all arguments, symbols, are the same.
    /// Fails with `wrong-type` if one is not a symbol.
    "symbol=?" "symbol₁ symbol₂ …" [1, _] (cost::arguments) => |context, arguments| {
        for argument in 0..arguments.len() {
            symbol_at(context.heap, arguments, argument)?;
        }
        Ok(Value::boolean(arguments.iter().all(|symbol| *symbol == arguments[0])))
    };

    /// Returns the name of a symbol, an immutable string.
    /// Fails with `wrong-type` if the argument is not a symbol.
    "symbol->string" "symbol" [1, 1] free => |context, arguments| {
        let symbol = symbol_at(context.heap, arguments, 0)?;
        Ok(context.heap.symbol_string(symbol)?)
    };

    /// Returns the symbol with this name.
    /// Fails with `wrong-type` if the argument is not a string.
    "string->symbol" "string" [1, 1] (cost::all_characters) => |context, arguments| {
        let name = context.heap.string_text(string_at(context.heap, arguments, 0)?);
        Ok(context.heap.intern(&name)?)
    };

    /// Returns whether the argument is a keyword.
    "keyword?" "object" [1, 1] free => |context, arguments| {
        Ok(Value::boolean(context.heap.is_kind(arguments[0], Kind::Keyword)))
    };

    /// Returns the symbol with the name of a keyword, which does not include the colon.
    /// Fails with `wrong-type` if the argument is not a keyword.
    "keyword->symbol" "keyword" [1, 1] free => |context, arguments| {
        let keyword = object_at(context.heap, arguments, 0, Kind::Keyword, "a keyword")?;
        Ok(context.heap.field(keyword, 0))
    };

    /// Returns the keyword with the name of a symbol.
    /// Fails with `wrong-type` if the argument is not a symbol.
    "symbol->keyword" "symbol" [1, 1] (cost::keyword) => |context, arguments| {
        let name = context.heap.symbol_name(symbol_at(context.heap, arguments, 0)?);
        Ok(context.heap.keyword(&name)?)
    };
}
