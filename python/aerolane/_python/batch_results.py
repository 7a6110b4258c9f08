"""The list of a batch's rows; run once, with the first batch."""

_failures = None  # set by the module


class BatchRecords(list):
    """The rows of a batch, in order: a list of `BatchRecord` that can tell which of them failed.

    A batch succeeds even if some of its rows fail; `raise_for_failures()` turns failed rows into an error.
    """

    __slots__ = ()

    def failures(self, *, missing=True):
        """A list of the rows that failed; with `missing=False`, without the rows whose record does not exist."""
        return _failures(self, missing, False)

    def raise_for_failures(self, *, missing=True):
        """Raises `BatchFailedError` if a row failed; its `records` are the failed rows.

        With `missing=False`, a record that does not exist is not a failure. The error is in doubt if a row is.
        """
        _failures(self, missing, True)


BatchRecords.__module__ = "aerolane.native"
