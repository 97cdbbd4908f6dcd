"""Talks to `duet mcp` with the Python client of the Model Context Protocol.

`mcp_client.py DUET URL` starts DUET over standard streams, then speaks to URL, and does the same with
both: lists the tools, runs a program, answers it, reads its timeline.
"""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

try:
    from mcp.client.streamable_http import streamable_http_client as http_client
except ImportError:
    from mcp.client.streamable_http import streamablehttp_client as http_client


async def converse(streams, run):
    async with ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert "amend" in names, names
        result = await session.call_tool("run", {"program": "p.scm", "name": run})
        assert "Who?" in result.content[0].text, result
        result = await session.call_tool("answer", {"address": run, "text": "Ada"})
        print(result.content[0].text)
        resources = (await session.list_resources()).resources
        assert f"duet://log/{run}" in [str(resource.uri) for resource in resources], resources
        read = await session.read_resource(f"duet://log/{run}")
        assert "run of p.scm" in read.contents[0].text, read


async def main():
    duet, url = sys.argv[1:]
    async with stdio_client(StdioServerParameters(command=duet, args=["mcp"])) as streams:
        await converse(streams, "lines")
    async with http_client(url) as streams:
        await converse(streams, "web")


asyncio.run(main())
