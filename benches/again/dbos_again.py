"""What DBOS calls again: a line for each way, with how often each call was made."""

import tempfile
import time

from dbos import DBOS, SetWorkflowID

calls = []
is_mended = []
folder = tempfile.TemporaryDirectory()
DBOS(config={"name": "again", "system_database_url": f"sqlite:///{folder.name}/system.sqlite", "log_level": "CRITICAL"})


@DBOS.step()
def call(name):
    calls.append(name)
    return name


@DBOS.workflow()
def agent():
    return [call(name) for name in "abc"] + [DBOS.recv("answer", timeout_seconds=60)]


@DBOS.workflow()
def outer():
    return agent()


@DBOS.step()
def work(item):
    calls.append(str(item))
    if item == 3 and not is_mended:
        raise RuntimeError("the item failed")
    return item


@DBOS.workflow()
def part(item):
    return work(item)


@DBOS.workflow()
def mapped():
    parts = [DBOS.start_workflow(part, item) for item in (1, 2, 3)]
    return [one.get_result() for one in parts]


def tell(way, names, end=""):
    print(f"DBOS | {way} | " + " ".join(str(calls.count(name)) for name in names) + end)
    calls.clear()


def answer(text):
    """Answers the agent that waits, once it does."""
    while True:
        waiting = [one for one in DBOS.list_workflows(status="PENDING") if one.name.endswith("agent")]
        if waiting and any(step["function_name"] == "DBOS.sleep" for step in DBOS.list_workflow_steps(waiting[0].workflow_id)):
            DBOS.send(waiting[0].workflow_id, text, "answer")
            return
        time.sleep(0.05)


def nested():
    with SetWorkflowID("outer"):
        whole = DBOS.start_workflow(outer)
    answer("yes")
    whole.get_result()
    calls.clear()
    inner = next(one.workflow_id for one in DBOS.list_workflows() if one.name.endswith("agent"))
    steps = [step for step in DBOS.list_workflow_steps(inner) if step["function_name"].endswith("call")]
    forked = DBOS.fork_workflow(inner, steps[2]["function_id"])
    answer("no")
    forked.get_result()
    kept = DBOS.retrieve_workflow("outer").get_result()[-1]
    tell("an agent: forked at c", "abc", f" (the workflow around it keeps the answer {kept})")
    forked = DBOS.fork_workflow("outer", 1)
    answer("no")
    forked.get_result()
    tell("an agent: the workflow around it is forked", "abc")


def half_failed():
    def result(way, handle):
        try:
            end = f" → {handle().get_result()}"
        except RuntimeError as error:
            end = f" → {error}"
        tell(way, "123", end)

    with SetWorkflowID("mapped"):
        whole = DBOS.start_workflow(mapped)
    try:
        whole.get_result()
    except RuntimeError:
        is_mended.append(True)
        calls.clear()
    result("a map: resumed after its third part is mended", lambda: DBOS.resume_workflow("mapped"))
    result("a map: forked where the third result is awaited", lambda: DBOS.fork_workflow("mapped", 6))
    result("a map: forked where the third part is started", lambda: DBOS.fork_workflow("mapped", 3))


DBOS.launch()
nested()
half_failed()
DBOS.destroy()
