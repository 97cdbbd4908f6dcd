#!/usr/bin/env bash
# LangGraph 1.2.24: going on from a checkpoint inside a nested graph runs the nested graph anew.
#
# `get_state_history` with the namespace of a nested graph lists a checkpoint before each of its
# nodes. One goes on from a checkpoint with `invoke(None, config)`, and nodes before it are not
# executed again. For a graph by itself this holds. From a checkpoint within a nested graph that was
# compiled in the usual way, which inherits the checkpointer, the outer graph executes the nested
# graph from its beginning: nodes before the checkpoint run a second time, without a warning that the
# checkpoint in the list is no place to go back to. A nested graph that was compiled with
# `checkpointer=True` goes on where one asks.
#
# Executions of the nodes a, b and c after going on from the checkpoint before c:
#
#   the graph by itself                  0 0 1
#   nested                               1 1 1
#   nested, with `checkpointer=True`     0 0 1
#
# Needs Python 3 with venv and the network: langgraph 1.2.24 and langgraph-checkpoint-sqlite 3.1.2
# from PyPI, in a temporary folder. Exits with 0 if the counts are those above.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    langgraph==1.2.24 langgraph-checkpoint-sqlite==3.1.2
cat >"$folder/count.py" <<'PROGRAM'
import operator
import sqlite3
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

executed = []


class State(TypedDict):
    done: Annotated[list, operator.add]


def node(name):
    def execute(state):
        executed.append(name)
        return {"done": [name]}

    return execute


def saver():
    return SqliteSaver(sqlite3.connect(":memory:", check_same_thread=False))


def chain(**options):
    graph = StateGraph(State)
    for name in "abc":
        graph.add_node(name, node(name))
    for edge in [(START, "a"), ("a", "b"), ("b", "c"), ("c", END)]:
        graph.add_edge(*edge)
    return graph.compile(**options)


def go_on(graph, thread, **namespace):
    history = graph.get_state_history({"configurable": {**thread, **namespace}})
    before = next(state for state in history if state.next == ("c",))
    executed.clear()
    graph.invoke(None, before.config)
    return " ".join(str(executed.count(name)) for name in "abc")


thread = {"thread_id": "1"}
alone = chain(checkpointer=saver())
alone.invoke({"done": []}, {"configurable": thread})
print("alone", go_on(alone, thread))


def nested(**options):
    outer = StateGraph(State)
    outer.add_node("inner", chain(**options))
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    outer = outer.compile(checkpointer=saver())
    outer.invoke({"done": []}, {"configurable": thread})
    around = next(state for state in outer.get_state_history({"configurable": thread}) if state.next == ("inner",))
    inner = outer.get_state(around.config, subgraphs=True).tasks[0].state.config["configurable"]
    return go_on(outer, thread, checkpoint_ns=inner["checkpoint_ns"])


print("nested", nested())
print("own", nested(checkpointer=True))
PROGRAM
seen=$("$folder/venv/bin/python" "$folder/count.py")
echo "$seen"
[ "$seen" = $'alone 0 0 1\nnested 1 1 1\nown 0 0 1' ]
