"""What an operator wants of the whole fleet, kept in Redis and obeyed by every replica within two seconds."""

from app.control.board import ControlBoard
from app.control.drains import DRAINED, SERVING, DrainWish
from app.control.errors import ControlError, ControlUnavailable, UnknownBreaker, UnusableWish
from app.control.obedience import Gate, Obedience, Switch
from app.control.wishes import AUTOMATIC, HELD, Standing, Wish, checked_words

__all__ = [
    "AUTOMATIC",
    "DRAINED",
    "HELD",
    "SERVING",
    "ControlBoard",
    "ControlError",
    "ControlUnavailable",
    "DrainWish",
    "Gate",
    "Obedience",
    "Standing",
    "Switch",
    "UnknownBreaker",
    "UnusableWish",
    "Wish",
    "checked_words",
]
