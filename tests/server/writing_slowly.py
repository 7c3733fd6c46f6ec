"""A worker of a store whose model writes an answer bit by bit until a file is there: writing_slowly.py STORE FILE"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from instrc import Reply, Request, Sample
from instrc.cli import main

whole = Sample.answer


async def slowly(model: Sample, request: Request) -> Reply:
    assert request.partial is not None
    text = ""
    while not Path(sys.argv[2]).exists():  # noqa: ASYNC240  -- a look takes no time
        text += "x"
        request.partial({"step1_draft": {"text": text}}, [])
        await asyncio.sleep(0.1)
    return await whole(model, request)


Sample.answer = slowly  # type: ignore[method-assign]  # in this process only
sys.exit(main(["worker", "--store", sys.argv[1]]))
