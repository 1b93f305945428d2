"""Forms that bring files: read into memory, since a replica's disk keeps nothing."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from app.web.errors import Malformed, UnsupportedForm
from app.web.forms import FIELDS_MOST, Form, Upload

_MULTIPART: Final = "multipart/form-data"


class _InMemory(MultiPartParser):
    """Never spools: the body is bounded before it gets here."""

    spool_max_size = 1 << 30


async def read_upload(request: Request) -> Form:
    """The form of a multipart body with at most one file; raises `Malformed`, `UnsupportedForm`, `BodyTooLarge`."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _MULTIPART:
        raise UnsupportedForm
    parser = _InMemory(request.headers, request.stream(), max_files=1, max_fields=FIELDS_MOST)
    try:
        found = await parser.parse()
    except (MultiPartException, KeyError, ValueError) as unreadable:
        raise Malformed("the form cannot be read") from unreadable
    values: dict[str, tuple[str, ...]] = {}
    files: dict[str, Upload] = {}
    for name, value in found.multi_items():
        if isinstance(value, UploadFile):
            files[name] = Upload(name=value.filename or "", content=value.file.read())
        else:
            values[name] = (*values.get(name, ()), value)
    await found.close()
    return Form(values=values, files=files)
