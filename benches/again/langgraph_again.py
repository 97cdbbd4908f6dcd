"""What LangGraph calls again: a line for each way, with how often each call was made."""

import operator
import sqlite3
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}
calls = []


class State(TypedDict):
    done: Annotated[list, operator.add]


def call(name):
    calls.append(name)
    return name


def tell(way, names):
    print(f"LangGraph | {way} | " + " ".join(str(calls.count(name)) for name in names))
    calls.clear()


def saver():
    return SqliteSaver(sqlite3.connect(":memory:", check_same_thread=False))


def within(agent):
    """A graph whose only node is the agent, after it has asked and was answered."""
    graph = StateGraph(State)
    graph.add_node("agent", agent)
    graph.add_edge(START, "agent")
    graph.add_edge("agent", END)
    graph = graph.compile(checkpointer=saver())
    graph.invoke({"done": []}, CONFIG)
    calls.clear()
    graph.invoke(Command(resume="yes"), CONFIG)
    return graph


def agent_of_nodes(**options):
    agent = StateGraph(State)
    for name in "abc":
        agent.add_node(name, lambda state, name=name: {"done": [call(name)]})
    agent.add_node("ask", lambda state: {"done": [interrupt("go on?")]})
    for edge in [(START, "a"), ("a", "b"), ("b", "c"), ("c", "ask"), ("ask", END)]:
        agent.add_edge(*edge)
    return agent.compile(**options)


def agent_in_one_node():
    def work(state):
        return {"done": [call(name) for name in "abc"] + [interrupt("go on?")]}

    agent = StateGraph(State)
    agent.add_node("work", work)
    agent.add_edge(START, "work")
    agent.add_edge("work", END)
    return agent.compile()


def nested():
    graph = within(agent_in_one_node())
    tell("an agent in one node: its question is answered", "abc")
    graph = within(agent_of_nodes())
    tell("an agent of nodes: its question is answered", "abc")
    go_back(graph)
    tell("an agent of nodes: back to before c", "abc")
    graph = within(agent_of_nodes(checkpointer=True))
    calls.clear()
    go_back(graph)
    tell("an agent of nodes that has checkpoints of its own: back to before c", "abc")


def go_back(graph):
    """Goes on from the checkpoint before c, inside of the agent."""
    before = next(state for state in graph.get_state_history(CONFIG) if state.next == ("agent",))
    inner = graph.get_state(before.config, subgraphs=True).tasks[0].state.config["configurable"]
    inner = {"configurable": {"thread_id": "1", "checkpoint_ns": inner["checkpoint_ns"]}}
    before = next(state for state in graph.get_state_history(inner) if state.next == ("c",))
    graph.invoke(None, before.config)


def mapped():
    is_mended = []

    def work(state):
        call(str(state["item"]))
        if state["item"] == 3 and not is_mended:
            raise RuntimeError("the item failed")
        return {"done": [state["item"]]}

    graph = StateGraph(State)
    graph.add_node("work", work)
    graph.add_conditional_edges(START, lambda state: [Send("work", {"item": item}) for item in (1, 2, 3)])
    graph.add_edge("work", END)
    graph = graph.compile(checkpointer=saver())
    try:
        graph.invoke({"done": []}, CONFIG)
    except RuntimeError:
        is_mended.append(True)
        calls.clear()
    graph.invoke(None, CONFIG)
    tell("a map: goes on after its third part is mended", "123")


nested()
mapped()
