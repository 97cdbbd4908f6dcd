"""The workflows of `benches/dbos/run`: each step returns a small value, which DBOS makes durable."""

import logging
import sys
import time

from dbos import DBOS

url, workflows, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
DBOS(
    config={
        "name": "steps",
        "system_database_url": url,
        "sys_db_pool_size": max(workflows, 20),
        "max_executor_threads": workflows + 8,
        "log_level": "ERROR",
    }
)


@DBOS.step()
def second():
    return time.time()


@DBOS.workflow()
def workflow(steps):
    for _ in range(steps):
        second()


DBOS.launch()
logging.disable(logging.WARNING)
workflow(10)
begun = time.perf_counter()
handles = [DBOS.start_workflow(workflow, steps) for _ in range(workflows)]
for handle in handles:
    handle.get_result()
print(workflows * steps / (time.perf_counter() - begun))
DBOS.destroy()
