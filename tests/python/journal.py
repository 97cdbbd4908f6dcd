"""A reader of journals that shares nothing with Duet but journal/FORMAT.md.

    python3 journal.py JOURNAL

It verifies every branch from its first record to its head, blobs included, and prints a line of JSON for each: run, branch, number of records,
name of the head, how often each label occurs among bodies and actions. The exit code is 1 if something
is wrong. It needs Python 3.8 and nothing else; with the package `preserves` it also requires that package to read and write the same bytes.
"""

import collections
import json
import sqlite3
import sys

from preserves_packed import Record, Refused, Symbol, read

try:
    from blake3 import blake3 as fast

    def blake3(data, key=None):
        return fast(data, key=key).digest()
except ImportError:
    from plain_blake3 import blake3

try:
    import preserves
except ImportError:
    preserves = None

VERSION = 1
HEADS = "SELECT runs.name, branch, sequence, record, hash FROM heads JOIN runs ON runs.id = heads.run ORDER BY runs.name, branch"
APPLICATION_ID = 0x44756574
NAME_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


class Damaged(Exception):
    """The journal is not what it should be."""


def require(condition, what):
    if not condition:
        raise Damaged(what)


def is_hash(value):
    return isinstance(value, bytes) and len(value) == 32


def is_name(value):
    return isinstance(value, str) and 1 <= len(value) <= 64 and set(value) <= NAME_CHARACTERS


class Journal:
    def __init__(self, path):
        self.database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        (application,) = self.database.execute("PRAGMA application_id").fetchone()
        (version,) = self.database.execute("PRAGMA user_version").fetchone()
        require(application == APPLICATION_ID, "this is no journal")
        require(version == VERSION, "the journal has version %d, and this reads version %d" % (version, VERSION))

    def heads(self):
        return self.database.execute(HEADS).fetchall()

    def chain(self, row):
        """The bytes of a record and of its ancestors, oldest first."""
        found = []
        while row is not None:
            stored = self.database.execute("SELECT parent, bytes FROM records WHERE id = ?", (row,)).fetchone()
            require(stored is not None, "a record is missing")
            row = stored[0]
            found.append(stored[1])
        return found[::-1]

    def blob(self, name):
        """The bytes of a blob, compared with its name."""
        stored = self.database.execute("SELECT bytes FROM blobs WHERE hash = ?", (name,)).fetchone()
        require(stored is not None, "the blob %s is missing" % name.hex())
        require(blake3(stored[0]) == name, "the blob %s has changed" % name.hex())
        return stored[0]


    def whole(self, value):
        """A value, joined from its parts if it is in parts."""
        if not has_label(value, "parts"):
            return value
        (length, levels, first, names, last, _, _) = value.fields
        for _ in range(levels):
            lists = b"".join(self.blob(name) for name in names)
            names = [lists[start:start + 32] for start in range(0, len(lists), 32)]
        joined = first + b"".join(self.blob(name) for name in names) + last
        require(len(joined) == length, "the parts of a value do not make it up")
        return read(joined)


def verify_record(data, run, sequence, parent):
    """Checks one record of a chain; returns the blobs that it names, its body as it is stored, and its own name."""
    record = read(data)
    require(isinstance(record, Record), "that is no record")
    require(record.label == VERSION and len(record.fields) == 6, "a record has another format or number of fields")
    name = blake3(data, parent)
    (its_run, branch, its_sequence, snapshot, blobs, body) = record.fields
    require(its_run == run and is_name(branch), "a record belongs to another run")
    require(its_sequence == sequence, "record %r stands at %d" % (its_sequence, sequence))
    require(snapshot is False or is_hash(snapshot), "record %d has a snapshot that is no hash" % sequence)
    require(all(is_hash(blob) for blob in blobs), "record %d names a blob that is no hash" % sequence)
    if preserves is not None:
        require(preserves.encode(preserves.decode(data), canonicalize=True) == data, "the package preserves reads something else")
    added = body.fields[5] if has_label(body, "parts") else []
    return blobs + added + ([snapshot] if snapshot else []), body, name


def verify_branch(journal, run, branch, sequence, row, head):
    require(is_name(run) and is_name(branch), "a name has other characters")
    chain = journal.chain(row)
    require(len(chain) == sequence + 1, "the head is at %d, its chain has %d records" % (sequence, len(chain)))
    parent, labels, blobs = None, collections.Counter(), set()
    for position, data in enumerate(chain):
        named, stored, parent = verify_record(data, run, position, parent)
        body = journal.whole(stored)
        if has_label(body, "run"):
            require(body.fields[:1] == [VERSION], "the run has another version of bodies")
        elif turn_fields(body):
            require(is_shortest(body), "turn %d is not written in its shortest form" % position)
        blobs.update(named)
        labels.update(labels_of(body))
    require(parent == head, "the head has another name")
    for blob in blobs:
        journal.blob(blob)
    return {"run": run, "branch": branch, "records": len(chain), "head": head.hex(), "blobs": len(blobs), "labels": dict(sorted(labels.items()))}


def has_label(value, name):
    return isinstance(value, Record) and value.label == Symbol(name)


def turn_fields(body):
    """The fields of a turn, also those that a bare one leaves out; None if the body is no turn."""
    if has_label(body, "turn") and len(body.fields) == 9:
        fields = body.fields
    elif isinstance(body, list) and len(body) == 5:
        (actor, cause, events, actions, fuel) = body
        fields = [actor, cause, events, [], actions, [], [], fuel, True]
    else:
        return None
    return fields if isinstance(fields[4], list) else None


def is_shortest(body):
    """Whether a turn is written as it must be: cause, verdicts and outcome short, and bare, where that can be."""
    (_, cause, _, dropped, actions, verdicts, attempts, _, outcome) = turn_fields(body)
    allowed = [verdict for verdict in verdicts if has_label(verdict, "allow")]
    return (
        isinstance(body, list) == (not dropped and not verdicts and not attempts and outcome is True)
        and (type(cause) is int or has_label(cause, "start") or has_label(cause, "input"))
        and (not verdicts or len(verdicts) == len(actions) and len(allowed) < len(verdicts))
        and (outcome is True or has_label(outcome, "failed"))
    )


def labels_of(body):
    """The label of a body, and those of the actions of a turn."""
    fields = turn_fields(body)
    if fields:
        return ["turn"] + ["turn/" + action.label.name for action in fields[4] if isinstance(action, Record)]
    return [body.label.name] if isinstance(body, Record) and isinstance(body.label, Symbol) else []


def main(path):
    try:
        journal = Journal(path)
        for head in journal.heads():
            print(json.dumps(verify_branch(journal, *head)))
    except (Damaged, Refused, UnicodeDecodeError, sqlite3.DatabaseError) as error:
        sys.exit("%s: %s" % (path, error))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 journal.py JOURNAL")
    main(sys.argv[1])
