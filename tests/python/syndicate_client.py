"""A client of `duet serve` in syndicate-py: publishes, observes, sends and syncs, then goes."""

import asyncio
import sys

from preserves import Record, Symbol, parse
from syndicate import actor, dataspace, relay, turn
from syndicate import patterns as P
from syndicate.during import Handler
from syndicate.schema import sturdy


@actor.run_system(name="client")
def main():
    root = turn.active_facet()
    asyncio.get_event_loop().call_later(30, lambda: sys.exit("nothing came for 30 seconds"))

    @relay.connect(sys.argv[1], sturdy.SturdyRef.decode(parse(sys.argv[2])))
    def on_connected(room):
        print("connected", flush=True)

        @dataspace.observe(room, P.rec("joined", P.CAPTURE))
        @Handler().msg_handler
        def on_joined(who):
            print("joined", who, flush=True)
            turn.send(room, Record(Symbol("says"), [who, "hello"]))

        @dataspace.observe(room, P.rec("says", P.CAPTURE, P.CAPTURE))
        @Handler().msg_handler
        def on_says(who, what):
            print("heard", who, what, flush=True)

            def synced():
                print("synced", flush=True)
                turn.stop(root)

            turn.sync(room, synced)

        turn.publish(room, Record(Symbol("present"), ["Python"]))
