"""Reads configuration files (`AEROSPIKE_SDK_CONFIG_URL`) in a program.

Clusters read their file themselves when they connect.
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
