"""How connections are encrypted."""

from collections.abc import Sequence
from os import PathLike
from typing import Self, final

@final
class TlsConfig:
    """How connections are encrypted: `TlsConfig(cafile)`, or `TlsConfig.with_client_auth(cafile, certfile, keyfile)`.

    `cafile`: a PEM file with the certificates of the trusted authorities; None: those that Python's `ssl` trusts.
    `protocols`: "TLSv1.2", "TLSv1.3"; None: both. `ciphers`: names of cipher suites; None: all safe ones.
    `for_login_only`: whether only the login is encrypted. Default False.

    The files are read at once. Raises `InvalidArgumentError` for files that cannot be used and for unknown names.
    """

    def __new__(
        cls,
        cafile: str | PathLike[str] | None = None,
        *,
        protocols: Sequence[str] | None = None,
        ciphers: Sequence[str] | None = None,
        for_login_only: bool = False,
    ) -> Self: ...
    @staticmethod
    def with_client_auth(
        cafile: str | PathLike[str] | None,
        certfile: str | PathLike[str],
        keyfile: str | PathLike[str],
        *,
        protocols: Sequence[str] | None = None,
        ciphers: Sequence[str] | None = None,
        for_login_only: bool = False,
    ) -> TlsConfig:
        """With the client's own certificate and its key, both in PEM files."""
    @property
    def for_login_only(self) -> bool:
        """Whether only the login is encrypted."""
    def __eq__(self, other: object, /) -> bool: ...
