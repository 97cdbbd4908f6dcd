"""A reader of snapshots that shares nothing with Duet but journal/FORMAT.md and journal/SNAPSHOT.md.

    python3 snapshot.py JOURNAL RUN BRANCH

It reads the newest snapshot of a branch and prints a line of JSON for each parked fiber: actor, fiber, and its frames, the newest first, each with
the unit and offset where it continues and its registers as text. The exit code is 1 if something is wrong. It needs Python 3.8 and nothing else.
"""

import json
import struct
import sys

from journal import Damaged, Journal, has_label, require
from preserves_packed import Refused, read

VERSION = 1
PAIR, PROCEDURE, OBJECT = range(3)
CONSTANTS = ["#f", "#t", "()", "#<unspecified>", "#<eof>", "#<undefined>", "#<absent>", "#<default>"]
STRING, SYMBOL, KEYWORD, VECTOR, RATIO, CELL, RECORD = 1, 2, 3, 4, 5, 6, 9
FRAMES, LINK, PROMPT, CLOSURE = 15, 16, 17, 65
NARROW, WIDE, BYTES, BIG, BOXED = 129, 130, 131, 132, 133
HEADER, REPEATED = 0x72, 0x7A
LENGTHS = [1, 2, 4, 8, 1, 1, 2, 3, 5, 8, 2, 0, 2, 4, 6, 8]
ROOTS = 1
SHOWN_DEPTH, LENGTH_MAX = 6, 100


class Word:
    """A word of a heap: a kind ("fixnum", "reference", …) and what belongs to it."""

    def __init__(self, kind, *content):
        self.kind, self.content = kind, content


def unzigzag(number):
    return number >> 1 if number % 2 == 0 else -(number >> 1) - 1


class Code:
    """The bytes of words, read from the front."""

    def __init__(self, data, units, primitives):
        self.data, self.at = data, 0
        self.units, self.primitives = units, primitives

    def take(self, count):
        require(self.at + count <= len(self.data), "a heap's code ends within a word")
        self.at += count
        return self.data[self.at - count:self.at]

    def passes(self, byte):
        if self.data[self.at:self.at + 1] != bytes([byte]):
            return False
        self.at += 1
        return True

    def varint(self):
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def header(self):
        kind = self.take(1)[0]
        flags = self.varint() if kind & 0x20 else 0
        return Word("header", kind & ~0x20, flags, self.varint())

    def word(self, place):
        first = self.take(1)[0]
        tag, number = first & 7, first >> 3 & 0xF
        if first & 0x80:
            number |= self.varint() << 4
        if tag == 0:
            return Word("fixnum", unzigzag(number))
        if tag == 1:
            return Word("reference", number % 3, (place // 2 + unzigzag(number // 3)) * 2)
        if tag == 2:
            require(number < len(CONSTANTS), "a constant that does not exist")
            return Word("constant", CONSTANTS[number])
        if tag == 3:
            return Word("character", chr(number))
        if tag == 4:
            return Word("flonum", float(unzigzag(number - 1)) if number else struct.unpack("<d", self.take(8))[0])
        if tag == 5:
            return Word("primitive", self.primitives[number].name)
        unit = self.units[number].hex()
        return Word("code", unit, self.varint()) if tag == 6 else Word("return", unit, self.varint(), self.varint())


def padded_content(header):
    """The number of words of an object behind its header, padding included."""
    kind, _, length = header.content
    words = -(-length // 8) if kind >= 128 else length
    return words + (words + 1) % 2


class Heap:
    def __init__(self, journal, root):
        self.journal = journal
        self.words = []
        chunk = self.chunk(root)
        chain = [chunk]
        while has_label(chunk, "changes"):
            chunk = self.chunk(chunk.fields[1])
            chain.append(chunk)
        require(has_label(chunk, "heap"), "a heap without a beginning")
        self.whole(chunk.fields)
        for changes in reversed(chain[:-1]):
            self.change(changes.fields)
        newest = chain[0].fields
        (registers, units, primitives) = newest[5:6] + newest[7:9] if has_label(chain[0], "changes") else newest[4:7]
        code = Code(registers, units, primitives)
        self.registers = []
        while code.at < len(registers):
            self.registers.append(code.word(0))

    def chunk(self, name):
        value = read(self.journal.blob(name))
        require(has_label(value, "columns") or value.fields[0] == VERSION, "a chunk of another version")
        return value

    def whole(self, fields):
        (_, length, _, in_chunk, _, _, _, chunks) = fields
        for name in chunks:
            (kinds, data, units, primitives) = self.chunk(name).fields
            self.columns(kinds, Code(data, units, primitives), min(len(self.words) + in_chunk, length))
        require(len(self.words) == length, "a heap of another length")

    def columns(self, kinds, code, end):
        place = 0
        while len(self.words) < end:
            kind = kinds[place // 2] >> 4 * (place % 2) & 0xF
            place += 1
            here = len(self.words)
            if kind == 11 and code.passes(REPEATED):
                self.words += [self.words[-1]] * code.varint()
            elif kind == 11:
                self.words.append(code.header() if code.passes(HEADER) else code.word(here))
            else:
                self.words.append(self.plain(kind, code.take(LENGTHS[kind]), here))
        require(code.at == len(code.data), "bytes behind the last word of a chunk")

    @staticmethod
    def plain(kind, data, place):
        number = int.from_bytes(data, "little")
        if kind < 4:
            return Word("fixnum", unzigzag(number))
        if kind == 4:
            require(number < len(CONSTANTS), "a constant that does not exist")
            return Word("constant", CONSTANTS[number])
        if kind < 9:
            return Word("reference", number % 4, (place // 2 + unzigzag(number // 4)) * 2)
        if kind == 9:
            return Word("flonum", struct.unpack("<d", data)[0])
        return Word("header", data[0], 0, data[1]) if kind == 10 else Word("bytes", data.ljust(8, b"\0"))

    def change(self, fields):
        (_, _, length, _, kept, _, data, units, primitives) = fields
        code = Code(data, units, primitives)
        del self.words[kept:]
        place = 0
        for _ in range(code.varint()):
            place += code.varint()
            run = code.varint()
            for _ in range(run // 2):
                if run % 2:
                    self.words[place] = Word("bytes", code.take(8))
                else:
                    self.words[place] = code.header() if code.passes(HEADER) else code.word(place)
                place += 1
        while len(self.words) < length:
            self.object(code)
        require(code.at == len(data), "bytes behind the last object of a heap")

    def object(self, code):
        if code.passes(0):
            for _ in range(2):
                self.words.append(code.word(len(self.words)))
            return
        header = code.header()
        self.words.append(header)
        (kind, _, length), count = header.content, padded_content(header)
        if kind >= 128:
            data = code.take(length).ljust(count * 8, b"\0")
            self.words += [Word("bytes", data[at:at + 8]) for at in range(0, count * 8, 8)]
            return
        end = len(self.words) + count
        while len(self.words) < end:
            self.words.append(code.word(len(self.words)))
            if self.words[-1].kind != "reference" and code.passes(REPEATED):
                self.words += [self.words[-1]] * code.varint()

    def content(self, place):
        """Kind, flags and content of the object at a place: words, or bytes."""
        kind, flags, length = self.words[place].content
        if kind < 128:
            return kind, flags, self.words[place + 1:place + 1 + length]
        words = self.words[place + 1:place + 1 + -(-length // 8)]
        return kind, flags, b"".join(word.content[0] for word in words)[:length]

    def text(self, word, depth=0):
        """A word as text, cut off at some depth."""
        if word.kind != "reference":
            return str(word.content[0]) if len(word.content) == 1 else "#<%s>" % word.kind
        (_, place) = word.content
        if depth > SHOWN_DEPTH:
            return "…"
        if word.content[0] == PAIR:
            return "(%s)" % " ".join(self.items(word, depth + 1))
        kind, flags, content = self.content(place)
        if kind in (STRING, SYMBOL, KEYWORD, CELL):
            return {STRING: '"%s"', SYMBOL: "%s", KEYWORD: ":%s", CELL: "#<cell %s>"}[kind] % self.text(content[0], depth + 1)
        if kind in (VECTOR, RECORD, RATIO):
            return "#(%s)" % " ".join(self.text(part, depth + 1) for part in content)
        if kind == NARROW:
            return content.decode("ascii")
        if kind == WIDE:
            return content.decode("utf-32-le")
        if kind == BIG:
            return str(int.from_bytes(content, "little") * (-1 if flags & 2 else 1))
        if kind == BOXED:
            return str(struct.unpack("<d", content)[0])
        return "#<%s>" % ("procedure" if kind == CLOSURE else "object %d" % kind)

    def items(self, word, depth):
        """The elements of a list as text; a dotted tail follows a point."""
        for _ in range(LENGTH_MAX):
            if word.kind == "constant" and word.content[0] == "()":
                return
            if word.kind != "reference" or word.content[0] != PAIR:
                yield from (".", self.text(word, depth))
                return
            first, word = self.words[word.content[1]:word.content[1] + 2]
            yield self.text(first, depth)
        yield "…"

    def frames(self, root):
        """The frames of a parked fiber, the newest first."""
        (_, table) = self.registers[ROOTS].content
        word = self.content(table)[2][root]
        if word.content[0] == PAIR:
            word = self.words[word.content[1]]
        link = self.content(word.content[1])[2][1]
        found = []
        while link.kind == "reference":
            kind, _, content = self.content(link.content[1])
            if kind == PROMPT:
                link = content[2]
                continue
            require(kind == LINK, "a stack of something else than links")
            words = self.content(content[0].content[1])[2][:content[1].content[0]]
            while words:
                (unit, offset, length) = words[-1].content
                require(words[-1].kind == "return" and 2 <= length <= len(words), "a frame without its end")
                registers = [self.text(register) for register in words[-length:-1]]
                found.append({"unit": unit, "offset": offset, "registers": registers})
                del words[-length:]
            link = content[2]
        return found


def newest_snapshot(journal, run, branch):
    for (its_run, its_branch, sequence, row, _) in journal.heads():
        if (its_run, its_branch) == (run, branch):
            for data in reversed(journal.chain(row)):
                snapshot = read(data).fields[3]
                if snapshot:
                    return snapshot
    raise Damaged("there is no snapshot of %s/%s" % (run, branch))


def main(path, run, branch):
    try:
        journal = Journal(path)
        (state, images, _code) = journal.whole(read(journal.blob(newest_snapshot(journal, run, branch)))).fields
        roots = {image.fields[0]: image.fields[1] for image in images}
        for (number, actor) in state.fields[3]:
            root = roots.get(number)
            if root is None:
                continue
            if has_label(root, "actor"):
                root = root.fields[0]
            heap = Heap(journal, root.fields[0])
            for (fiber, parked) in actor.fields[12]:
                print(json.dumps({"actor": number, "fiber": fiber, "frames": heap.frames(parked.fields[2])}))
    except (Damaged, Refused, UnicodeDecodeError) as error:
        sys.exit("%s: %s" % (path, error))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python3 snapshot.py JOURNAL RUN BRANCH")
    main(*sys.argv[1:])
