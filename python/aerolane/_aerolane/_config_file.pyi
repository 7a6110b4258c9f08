"""Configuration files, read by a program itself."""

from datetime import timedelta
from os import PathLike
from typing import Self, final

from aerolane.system_settings import SystemSettings

from ._behavior import Settings
from ._enums import Scope

@final
class BehaviorSpec:
    """A behavior as a configuration file has it."""

    def __new__(cls, name: str, parent: str | None = None, patches: dict[Scope, Settings] | None = None) -> Self: ...
    @property
    def name(self) -> str:
        """The name."""
    @property
    def parent(self) -> str | None:
        """The name of the behavior that it is made from; `None`: `DEFAULT`."""
    @property
    def patches(self) -> dict[Scope, Settings]:
        """Its own settings: a `Settings` by each `Scope` that it has."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class LoadedConfig:
    """What was read from a configuration file."""

    @property
    def raw(self) -> bytes:
        """The bytes of the file."""
    @property
    def profiles(self) -> dict[str, SystemSettings]:
        """A `SystemSettings` by the name of each cluster, or `DEFAULT`."""
    @property
    def behaviors(self) -> dict[str, BehaviorSpec]:
        """A `BehaviorSpec` by the name of each behavior."""

def parse_size(value: int | str, /) -> int:
    """A number of bytes: an int, or a text with a unit, such as `"512b"`, `"10mb"`, `"1.5gb"`.

    Raises `InvalidArgumentError`, a `ValueError`, for something else.
    """

def parse_duration(value: str, /) -> timedelta:
    """A duration: a text such as `"250ms"`, `"1s"`, `"5 minutes"`. Units go from nanoseconds to days; what is less than
    a microsecond is rounded up to one. Gives a `timedelta`.

    Raises `InvalidArgumentError`, a `ValueError`, for something else.
    """

def parse_sdk_config(text: str) -> dict[str, SystemSettings]:
    """The settings of clusters in the text of a configuration file: a `SystemSettings` by the name of each cluster, or
    `DEFAULT`. Keys that cannot be used are logged.

    Raises `InvalidArgumentError`, a `ValueError`, for what is no YAML, with the line.
    """

def parse_behaviors(text: str) -> dict[str, BehaviorSpec]:
    """The behaviors in the text of a configuration file: a `BehaviorSpec` by the name of each. Keys that cannot be used
    are logged.

    Raises `InvalidArgumentError`, a `ValueError`, for what is no YAML, with the line.
    """

def apply_behaviors(specs: dict[str, BehaviorSpec]) -> None:
    """Makes behaviors, and changes those that there are, also for sessions that use them: they get these settings in
    place of the ones that they had. Predefined ones keep their own beneath.

    `specs`: a `BehaviorSpec` by each name, as `parse_behaviors` gives them. One whose parent there is not gets
    `DEFAULT`; of those whose parents lead in a circle nothing is made. Both are logged.
    """

def resolve_for_cluster(profiles: dict[str, SystemSettings], cluster_name: str | None) -> SystemSettings | None:
    """The settings for a cluster: those of its name, over those of `DEFAULT`. `None`: there are neither."""

def load_config(path: str | PathLike[str]) -> LoadedConfig | None:
    """What is in a configuration file: a `LoadedConfig`. `None`: it cannot be read, or is no YAML, which is logged."""

def load_and_resolve(
    path: str | PathLike[str], cluster_name: str | None, programmatic: SystemSettings | None
) -> SystemSettings:
    """The settings of a cluster: what a file says for it, over `programmatic`, a `SystemSettings`, over the
    defaults. A file that cannot be used is logged.
    """

def resolve_from_env(
    cluster_name: str | None, programmatic: SystemSettings | None
) -> tuple[SystemSettings, str | None]:
    """`load_and_resolve` with the file that the environment variable `AEROSPIKE_SDK_CONFIG_URL` names: the settings,
    and the path of the file, or `None` when it names none.
    """
