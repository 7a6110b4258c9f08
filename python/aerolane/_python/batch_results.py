"""The list of a batch's rows; run once, with the first batch."""

_failures = None  # set by the module


class BatchRecords(list):
    """The rows of a batch, in order: a list of `BatchRecord`, which can say which of them have failed.

    A batch succeeds although rows of it fail; `raise_for_failures()` makes that an error.
    """

    __slots__ = ()

    def failures(self, *, missing=True):
        """A list of the rows that did not succeed; with `missing=False`, without those whose record does not exist."""
        return _failures(self, missing, False)

    def raise_for_failures(self, *, missing=True):
        """Raises `BatchFailedError` if a row did not succeed; its `records` are these rows.

        `missing=False`: a record that does not exist is no failure. It is in doubt if one of the rows is.
        """
        _failures(self, missing, True)


BatchRecords.__module__ = "aerolane.native"
