"""Catalogue files from the browser: sent, watched while any replica works on them, and taken out."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from app.shop.desk.jobs import Job, checked_file
from app.shop.errors import Invalid, NotFound
from app.shop.importing import CatalogueWriter, Terms, checked_terms
from app.shop.importing.cells import harmless
from app.web.forms import Form
from app.web.pages.desk.owner import PATH, deed_of, desk_page, desk_upload
from app.web.pages.form import Entry
from app.web.pages.page import html
from app.web.redirects import see_other
from app.web.shopping import desk_of

_RECENT: Final = 20
_RATE: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,2})?")
_PIECE: Final = 64 * 1024
_MARK: Final = "\ufeff"
"""Tells spreadsheets that a file is UTF-8."""


async def show(request: Request, entry: Entry) -> Response:
    """The form, and the last files."""
    jobs = await desk_of(request).jobs.recent(most=_RECENT)
    return await html(request, "desk/imports.html", status=entry.status, jobs=jobs, entry=entry)


async def send(request: Request, form: Form) -> Response:
    """Keep the file for the next worker, and show how far it is."""
    content = form.file("file")
    name = checked_file(form.file_name("file"), content)
    job_id = await desk_of(request).jobs.add(name, content, _terms(form), deed_of(request, form))
    return see_other(f"{PATH}/nhap/{job_id}")


async def job(request: Request) -> Response:
    """One file; the page asks again by itself until it is over."""
    return await html(request, "desk/import.html", job=await _job(request))


async def refusals(request: Request) -> Response:
    """The refused lines as a file for a spreadsheet."""
    found = await _job(request)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["Dòng", "Cột", "Giá trị", "Cần có"])
    for each in found.refusals:
        cells = (each["line"], each["column"] or "", each["given"] or "", each["expected"])
        writer.writerow([harmless(str(cell)) for cell in cells])
    return _file((_MARK + out.getvalue()).encode(), f"tu-choi-{found.id}.csv")


async def take_out(request: Request) -> Response:
    """The whole catalogue, written as it is read."""
    return StreamingResponse(
        _written(request), media_type="text/csv; charset=utf-8", headers=_named("hang-hoa.csv")
    )


async def _written(request: Request) -> AsyncIterator[bytes]:
    out = io.StringIO(newline="")
    out.write(_MARK)
    writer = CatalogueWriter(out)
    async for product in desk_of(request).catalogue.everything():
        writer.write(product)
        if out.tell() > _PIECE:
            yield out.getvalue().encode()
            out.seek(0)
            out.truncate()
    yield out.getvalue().encode()


def _terms(form: Form) -> Terms:
    rate = form.text("rate").strip()
    if rate and not _RATE.fullmatch(rate):
        raise Invalid("rate", "wants plain digits such as 25400 or 25400.5", code="rate_invalid")
    return checked_terms(form.text("currency").strip() or None, Decimal(rate) if rate else None)


async def _job(request: Request) -> Job:
    text = request.path_params["job_id"]
    found = (
        await desk_of(request).jobs.find(int(text)) if re.fullmatch(r"[0-9]{1,15}", text, re.ASCII) else None
    )
    if found is None:
        raise NotFound("import")
    return found


def _file(content: bytes, name: str) -> Response:
    return Response(content, media_type="text/csv; charset=utf-8", headers=_named(name))


def _named(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


routes = [
    desk_upload("/nhap", show, send),
    desk_page("/nhap/{job_id}", job),
    desk_page("/nhap/{job_id}/tu-choi.csv", refusals),
    desk_page("/xuat/hang-hoa.csv", take_out),
]
