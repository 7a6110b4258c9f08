"""Configuration files (`AEROSPIKE_SDK_CONFIG_URL`), read by a program itself.

Clusters read theirs when they are connected.
"""

from aerolane._aerolane import (
    BehaviorSpec,
    LoadedConfig,
    apply_behaviors,
    load_and_resolve,
    load_config,
    parse_behaviors,
    parse_duration,
    parse_sdk_config,
    parse_size,
    resolve_for_cluster,
    resolve_from_env,
)

__all__ = [
    "BehaviorSpec",
    "LoadedConfig",
    "apply_behaviors",
    "load_and_resolve",
    "load_config",
    "parse_behaviors",
    "parse_duration",
    "parse_sdk_config",
    "parse_size",
    "resolve_for_cluster",
    "resolve_from_env",
]
