"""A person in the chat room, with syndicate-py.

    python person.py '<unix ".duet/journal.sqlite.sock">' "$(duet grant chat)" Ada "Hello!"
"""

import sys

from preserves import Record, Symbol, parse
from syndicate import actor, dataspace, relay, turn
from syndicate import patterns as P
from syndicate.during import During
from syndicate.schema import sturdy

address, reference, name, *words = sys.argv[1:]


@actor.run_system(name="person")
def main():
    root = turn.active_facet()
    last = words[-1] if words else None

    @relay.connect(address, sturdy.SturdyRef.decode(parse(reference)))
    def on_connected(room):
        turn.publish(room, Record(Symbol("present"), [name]))

        @dataspace.observe(room, P.rec("said", P.CAPTURE, P.CAPTURE, P.CAPTURE))
        @During().add_handler
        def on_said(number, who, text):
            print(f"{number} {who}: {text}", flush=True)
            # Without anything to say a person stays and listens.
            if (who, text) == (name, last):
                turn.stop(root)

        for word in words:
            turn.send(room, Record(Symbol("says"), [name, word]))
