"""The visits of a shop's customers: the code under test."""

from datetime import timedelta

from aerolane import Behavior, DataSet
from aerolane.exceptions import ConnectionError, RecordNotFoundError, TimeoutError
from aerolane.policy import Settings

CUSTOMERS = DataSet.of("test", "customers")
# Callers wait for half a second. Reads may be repeated.
QUICK = Behavior.DEFAULT.derive_with_changes(
    "quick", all=Settings(total_timeout=timedelta(milliseconds=500)), reads=Settings(max_retries=2)
)


class Unavailable(Exception):
    """The database did not answer in time. `may_have_counted`: the visit may have been counted."""

    def __init__(self, may_have_counted):
        super().__init__("the database did not answer in time")
        self.may_have_counted = may_have_counted


def count_visit(session, name):
    """Counts a visit, and returns how many there were."""
    visit = session.upsert(CUSTOMERS.id(name)).bin("visits").add(1).bin("visits").get()
    try:
        return visit.execute().first_or_raise().operation_result(1)
    except (TimeoutError, ConnectionError) as error:
        raise Unavailable(error.in_doubt) from error


def visits(session, name):
    """Returns how many visits a customer made; 0 for one who never came."""
    try:
        return session.get(CUSTOMERS.id(name)).bins["visits"]
    except RecordNotFoundError:
        return 0
