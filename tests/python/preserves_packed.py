"""Packed Preserves, as far as `journal/FORMAT.md` asks for it: one canonical value, and nothing after it.

Source: https://preserves.dev/preserves-binary.html and the rules under "Values" in FORMAT.md.
"""

import struct
from collections import namedtuple

Record = namedtuple("Record", "label fields")
Symbol = namedtuple("Symbol", "name")
Embedded = namedtuple("Embedded", "value")

DEPTH_MAX = 520
END = object()


class Refused(Exception):
    """The bytes are no canonical value."""


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Refused("the bytes end within a value")
        self.at += count
        return self.data[self.at - count:self.at]

    def length(self):
        """A length: seven bits per byte, the least significant first."""
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                if byte == 0 and shift > 7:
                    raise Refused("a length has more bytes than it needs")
                return value

    def value(self, depth=0):
        if depth > DEPTH_MAX:
            raise Refused("nested too deeply")
        tag = self.take(1)[0]
        if tag in (0x80, 0x81):
            return tag == 0x81
        if tag == 0x84:
            return END
        if tag == 0x86:
            return Embedded(self.some(depth))
        if tag == 0x87:
            if self.length() != 8:
                raise Refused("a number that is no double")
            return struct.unpack(">d", self.take(8))[0]
        if tag == 0xB0:
            return integer(self.take(self.length()))
        if tag == 0xB1:
            return self.take(self.length()).decode("utf-8")
        if tag == 0xB2:
            return bytes(self.take(self.length()))
        if tag == 0xB3:
            return Symbol(self.take(self.length()).decode("utf-8"))
        if tag in (0xB4, 0xB5, 0xB6, 0xB7):
            return self.compound(tag, depth + 1)
        raise Refused("tag %#x" % tag)

    def some(self, depth):
        value = self.value(depth)
        if value is END:
            raise Refused("an end where a value should be")
        return value

    def compound(self, tag, depth):
        items, starts = [], []
        while True:
            start = self.at
            item = self.value(depth)
            if item is END:
                break
            items.append(item)
            starts.append(self.data[start:self.at])
        if tag == 0xB4:
            if not items:
                raise Refused("a record without a label")
            return Record(items[0], items[1:])
        if tag == 0xB5:
            return items
        step = 1 if tag == 0xB6 else 2
        keys = starts[::step]
        if len(items) % step or any(left >= right for left, right in zip(keys, keys[1:])):
            raise Refused("keys or elements out of order")
        return ("set", items) if step == 1 else ("dictionary", list(zip(items[::2], items[1::2])))


def integer(data):
    value = int.from_bytes(data, "big", signed=True)
    length = 0 if value == 0 else ((value if value >= 0 else ~value).bit_length() // 8 + 1)
    if length != len(data):
        raise Refused("an integer has more bytes than it needs")
    return value


def read(data):
    """The one value in `data`."""
    reader = Reader(data)
    value = reader.some(0)
    if reader.at != len(data):
        raise Refused("bytes after the value")
    return value
