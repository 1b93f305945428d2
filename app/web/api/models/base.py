"""What every body has in common: input is strict, an unknown field is refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Input(BaseModel):
    """A request's body."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Output(BaseModel):
    """An answer's body."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ListOut(Output):
    """One page of a longer list."""

    total: int
    page: int
    page_size: int


Text = Annotated[str, Field(max_length=2000)]
"""Bounded here, judged by the shop, which says more precisely what is wrong."""
