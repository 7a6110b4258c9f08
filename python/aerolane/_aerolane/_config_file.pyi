"""Configuration files, read by a program itself."""

from datetime import timedelta
from os import PathLike
from typing import Self, final

from aerolane.system_settings import SystemSettings

from ._behavior import Settings
from ._enums import Scope

@final
class BehaviorSpec:
    """A behavior as described in a configuration file."""

    def __new__(cls, name: str, parent: str | None = None, patches: dict[Scope, Settings] | None = None) -> Self: ...
    @property
    def name(self) -> str:
        """The name."""
    @property
    def parent(self) -> str | None:
        """The name of the behavior that it is derived from; `None` means `DEFAULT`."""
    @property
    def patches(self) -> dict[Scope, Settings]:
        """Its own settings: a dict from `Scope` to `Settings`."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class LoadedConfig:
    """The contents of a configuration file."""

    @property
    def raw(self) -> bytes:
        """The bytes of the file."""
    @property
    def profiles(self) -> dict[str, SystemSettings]:
        """A dict from the name of each cluster, or `DEFAULT`, to its `SystemSettings`."""
    @property
    def behaviors(self) -> dict[str, BehaviorSpec]:
        """A dict from the name of each behavior to its `BehaviorSpec`."""

def parse_size(value: int | str, /) -> int:
    """Parses a number of bytes: an int, or text with a unit such as `"512b"`, `"10mb"` or `"1.5gb"`.

    Raises `InvalidArgumentError` (a `ValueError`) for anything else.
    """

def parse_duration(value: str, /) -> timedelta:
    """Parses a duration such as `"250ms"`, `"1s"` or `"5 minutes"` to a `timedelta`. Units range from nanoseconds to
    days; anything below a microsecond is rounded up to one.

    Raises `InvalidArgumentError` (a `ValueError`) for anything else.
    """

def parse_sdk_config(text: str) -> dict[str, SystemSettings]:
    """The settings of clusters in the text of a configuration file: a dict from the name of a cluster, or `DEFAULT`, to
    its `SystemSettings`. Invalid keys are logged.

    Raises `InvalidArgumentError` (a `ValueError`) with the line if the text is not valid YAML.
    """

def parse_behaviors(text: str) -> dict[str, BehaviorSpec]:
    """The behaviors in the text of a configuration file: a dict from name to `BehaviorSpec`. Invalid keys are logged.

    Raises `InvalidArgumentError` (a `ValueError`) with the line if the text is not valid YAML.
    """

def apply_behaviors(specs: dict[str, BehaviorSpec]) -> None:
    """Creates behaviors and replaces the settings of existing ones, also for sessions that use them. Predefined
    behaviors keep their own settings beneath the new ones.

    `specs`: a dict from name to `BehaviorSpec`, as returned by `parse_behaviors`. A behavior whose parent does not
    exist is derived from `DEFAULT`; behaviors whose parents form a cycle are not created. Both cases are logged.
    """

def resolve_for_cluster(profiles: dict[str, SystemSettings], cluster_name: str | None) -> SystemSettings | None:
    """The settings for a cluster: those for its name override those for `DEFAULT`. `None` if there are neither."""

def load_config(path: str | PathLike[str]) -> LoadedConfig | None:
    """The contents of a configuration file: a `LoadedConfig`. `None` if it cannot be read or is not valid YAML,
    which is logged.
    """

def load_and_resolve(
    path: str | PathLike[str], cluster_name: str | None, programmatic: SystemSettings | None
) -> SystemSettings:
    """The settings of a cluster: those in a file override `programmatic` (a `SystemSettings`), which overrides the
    defaults. A file that cannot be used is logged.
    """

def resolve_from_env(
    cluster_name: str | None, programmatic: SystemSettings | None
) -> tuple[SystemSettings, str | None]:
    """Calls `load_and_resolve` with the file that the environment variable `AEROSPIKE_SDK_CONFIG_URL` names. Returns
    the settings and the path of the file, or `None` if it is not set.
    """
