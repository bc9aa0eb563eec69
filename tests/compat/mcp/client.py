"""Calls tools with the published Python client and prints what a model would read, as JSON."""
import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main(url, calls):
    seen = []
    async with streamable_http_client(url) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        await session.list_tools()
        for call in calls:
            result = await session.call_tool(call["tool"], call["args"])
            text = "\n".join(part.text for part in result.content if part.type == "text")
            seen.append({"isError": bool(result.is_error), "text": text})
    print(json.dumps(seen))


asyncio.run(main(sys.argv[1], json.load(sys.stdin)))
