"""Reviews in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, Subquery, case, delete, func, literal, null, select, true, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.identity import Caller
from app.services.reviews.tables import reviews
from app.shop.paging import offset_of
from app.shop.reviews import Review, ReviewsPage, ReviewStatus
from app.stores.database import AnyRow, Database

_is_there: Final = reviews.c.withdrawn_at.is_(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlReviews:
    """The table `reviews`.

    `first` is the status of a new review. What the owner hid comes back through the owner alone: editing it
    only asks for another look.
    """

    database: Database
    first: ReviewStatus

    async def shown(self, product: str, *, page: int, page_size: int) -> ReviewsPage:
        """Those of a product that are shown, newest first."""
        which = (reviews.c.product == product) & (reviews.c.status == "shown")
        newest = (reviews.c.written_at.desc(), reviews.c.id)
        return await self._page(which, newest, page=page, page_size=page_size)

    async def waiting(self, status: ReviewStatus, *, page: int, page_size: int) -> ReviewsPage:
        """Those of a status, oldest first."""
        oldest = (reviews.c.written_at, reviews.c.id)
        which = (reviews.c.status == status) & _is_there
        return await self._page(which, oldest, page=page, page_size=page_size)

    async def of(self, product: str, author: str) -> Review | None:
        """What that account said of it."""
        row = await self.database.row(
            select(reviews).filter_by(product=product, author=author).where(_is_there)
        )
        return None if row is None else _review(row)

    async def write(self, product: str, author: Caller, *, rating: int, text: str) -> Review:
        """Keep it in place of what that account said before; the same again changes nothing."""
        is_same = (reviews.c.rating == rating) & (reviews.c.text == text) & _is_there
        new = upsert(reviews).values(
            id=str(uuid4()),
            product=product,
            author=author.subject,
            author_name=author.name,
            rating=rating,
            text=text,
            status=self.first,
        )
        kept = new.on_conflict_do_update(
            index_elements=[reviews.c.product, reviews.c.author],
            set_={
                "author_name": author.name,
                "rating": rating,
                "text": text,
                "written_at": case((_is_there, reviews.c.written_at), else_=func.now()),
                "edited_at": case((is_same, reviews.c.edited_at), (_is_there, func.now()), else_=null()),
                "withdrawn_at": None,
                "status": case(
                    (is_same, reviews.c.status),
                    (reviews.c.status == "shown", literal(self.first)),
                    else_=literal("pending"),
                ),
            },
        ).returning(reviews)

        async def work(connection: AsyncConnection) -> Review:
            return _review((await connection.execute(kept)).one())

        return await self.database.transaction(work)

    async def remove(self, product: str, author: str) -> None:
        """Forget what that account said of it, but not that the owner hid it: the next one waits for a look."""
        is_theirs = (reviews.c.product == product) & (reviews.c.author == author)
        is_free = (reviews.c.status == "shown") | reviews.c.judged_at.is_(None)
        emptied = {"author_name": "", "rating": 1, "text": "", "status": "hidden", "withdrawn_at": func.now()}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(delete(reviews).where(is_theirs, is_free))
            await connection.execute(update(reviews).where(is_theirs, _is_there).values(emptied))

        await self.database.transaction(work)

    async def forget(self, author: str) -> Sequence[str]:
        """Take that account's name off its reviews; their products, also when it was done before."""
        nameless = (
            update(reviews).filter_by(author=author).values(author_name="").returning(reviews.c.product)
        )

        async def work(connection: AsyncConnection) -> Sequence[str]:
            return [row.product for row in await connection.execute(nameless)]

        return await self.database.transaction(work)

    async def judge(self, review_id: str, status: ReviewStatus, *, by: str) -> Review | None:
        """Give it that status; None where there is no such review."""
        if not _is_uuid(review_id):
            return None
        judged = (
            update(reviews)
            .where(reviews.c.id == review_id, _is_there)
            .values(status=status, judged_by=by, judged_at=func.now())
            .returning(reviews)
        )

        async def work(connection: AsyncConnection) -> Review | None:
            row = (await connection.execute(judged)).one_or_none()
            return None if row is None else _review(row)

        return await self.database.transaction(work)

    async def _page(
        self,
        which: ColumnElement[bool],
        order: Sequence[ColumnElement[object]],
        *,
        page: int,
        page_size: int,
    ) -> ReviewsPage:
        """One query: the total and the average come also with a page that has no rows."""
        offset = offset_of(page, page_size)
        counted = _counted(which)
        chosen = select(reviews, func.row_number().over(order_by=order).label("place")).where(which)
        listed = chosen.order_by(*order).limit(page_size).offset(offset).subquery("listed")
        rows = await self.database.rows(
            select(counted, listed).select_from(counted.outerjoin(listed, true())).order_by(listed.c.place)
        )
        return ReviewsPage(
            items=[_review(row) for row in rows if row.id is not None],
            total=rows[0].total,
            page=page,
            page_size=page_size,
            average=None if rows[0].average is None else round(float(rows[0].average), 2),
        )


def _counted(which: ColumnElement[bool]) -> Subquery:
    return (
        select(func.count().label("total"), func.avg(reviews.c.rating).label("average"))
        .where(which)
        .subquery("counted")
    )


def _review(row: AnyRow) -> Review:
    return Review(
        id=row.id,
        product=row.product,
        author_name=row.author_name,
        rating=row.rating,
        text=row.text,
        status=row.status,
        written_at=row.written_at,
        edited_at=row.edited_at,
    )


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
