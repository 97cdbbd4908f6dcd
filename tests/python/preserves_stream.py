"""Packed Preserves values in a stream, both ways, as far as a peer in a test needs them.

`preserves_packed.py` reads one canonical value strictly, as journals have it.
"""
import struct


class Symbol(str):
    pass


class Record:
    def __init__(self, label, *fields):
        self.label, self.fields = label, list(fields)

    def __eq__(self, other):
        return isinstance(other, Record) and encode(self) == encode(other)

    def __repr__(self):
        return "<%s>" % " ".join(map(repr, [self.label] + self.fields))


class Embedded:
    def __init__(self, value):
        self.value = value


END = object()


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def atom(tag, content):
    return bytes([tag]) + varint(len(content)) + content


def encode(value):
    """Canonical bytes of a value."""
    if isinstance(value, bool):
        return b"\x81" if value else b"\x80"
    if isinstance(value, int):
        length = (value if value >= 0 else ~value).bit_length() // 8 + 1
        return atom(0xB0, value.to_bytes(length, "big", signed=True) if value else b"")
    if isinstance(value, float):
        return atom(0x87, struct.pack(">d", value))
    if isinstance(value, Symbol):
        return atom(0xB3, value.encode())
    if isinstance(value, str):
        return atom(0xB1, value.encode())
    if isinstance(value, bytes):
        return atom(0xB2, value)
    if isinstance(value, Record):
        return b"\xb4" + encode(value.label) + b"".join(map(encode, value.fields)) + b"\x84"
    if isinstance(value, (list, tuple)):
        return b"\xb5" + b"".join(map(encode, value)) + b"\x84"
    if isinstance(value, (set, frozenset)):
        return b"\xb6" + b"".join(sorted(map(encode, value))) + b"\x84"
    if isinstance(value, dict):
        entries = sorted((encode(key), encode(content)) for key, content in value.items())
        return b"\xb7" + b"".join(key + content for key, content in entries) + b"\x84"
    if isinstance(value, Embedded):
        return b"\x86" + encode(value.value)
    raise ValueError("no value: %r" % (value,))


class Reader:
    """Values of a stream; `read(n)` gives exactly n bytes, or fewer at its end."""

    def __init__(self, read):
        self.read = read

    def bytes(self, length):
        found = self.read(length)
        if len(found) < length:
            raise EOFError
        return found

    def length(self):
        number, shift = 0, 0
        while True:
            (byte,) = self.bytes(1)
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def items(self):
        items = []
        while (item := self.value()) is not END:
            items.append(item)
        return items

    def value(self):
        (tag,) = self.bytes(1)
        if tag in (0x80, 0x81):
            return tag == 0x81
        if tag == 0x84:
            return END
        if tag == 0x86:
            return Embedded(self.value())
        if tag in (0x87, 0xB0, 0xB1, 0xB2, 0xB3):
            content = self.bytes(self.length())
            return {
                0x87: lambda: struct.unpack(">d", content)[0],
                0xB0: lambda: int.from_bytes(content, "big", signed=True),
                0xB1: lambda: content.decode(),
                0xB2: lambda: content,
                0xB3: lambda: Symbol(content.decode()),
            }[tag]()
        if tag == 0xB4:
            return Record(*self.items())
        if tag == 0xB5:
            return self.items()
        if tag == 0xB6:
            return frozenset(self.items())
        if tag == 0xB7:
            items = self.items()
            return dict(zip(items[::2], items[1::2]))
        raise ValueError("no value starts with %#x" % tag)
