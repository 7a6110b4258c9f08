"""Aerolane for code without asyncio: classes with the same names as in `aerolane`, whose methods block the caller."""

from aerolane._aerolane import Host, QueryBinBuilder, SyncClient, TlsBuilder, WriteBinBuilder
from aerolane._aerolane import SyncBackgroundOperationBuilder as BackgroundOperationBuilder
from aerolane._aerolane import SyncBackgroundTaskSession as BackgroundTaskSession
from aerolane._aerolane import SyncBackgroundUdfBuilder as BackgroundUdfBuilder
from aerolane._aerolane import SyncBackgroundUdfFunctionBuilder as BackgroundUdfFunctionBuilder
from aerolane._aerolane import SyncCluster as Cluster
from aerolane._aerolane import SyncClusterDefinition as ClusterDefinition
from aerolane._aerolane import SyncDataSetWriteBuilder as DataSetWriteBuilder
from aerolane._aerolane import SyncIndexBuilder as IndexBuilder
from aerolane._aerolane import SyncInfoCommands as InfoCommands
from aerolane._aerolane import SyncNode as Node
from aerolane._aerolane import SyncQueryBuilder as QueryBuilder
from aerolane._aerolane import SyncRecordStream as RecordStream
from aerolane._aerolane import SyncRowWriteBuilder as RowWriteBuilder
from aerolane._aerolane import SyncSession as Session
from aerolane._aerolane import SyncTransactionalSession as TransactionalSession
from aerolane._aerolane import SyncUdfBuilder as UdfBuilder
from aerolane._aerolane import SyncUdfFunctionBuilder as UdfFunctionBuilder
from aerolane._aerolane import SyncWriter as Writer
from aerolane._aerolane import SyncWriteSegmentBuilder as WriteSegmentBuilder
from aerolane.concurrent._threads import execute_concurrent, execute_concurrent_with_args

__all__ = [
    "BackgroundOperationBuilder",
    "BackgroundTaskSession",
    "BackgroundUdfBuilder",
    "BackgroundUdfFunctionBuilder",
    "Cluster",
    "ClusterDefinition",
    "DataSetWriteBuilder",
    "Host",
    "IndexBuilder",
    "InfoCommands",
    "Node",
    "QueryBinBuilder",
    "QueryBuilder",
    "RecordStream",
    "RowWriteBuilder",
    "Session",
    "SyncClient",
    "TlsBuilder",
    "TransactionalSession",
    "UdfBuilder",
    "UdfFunctionBuilder",
    "WriteBinBuilder",
    "WriteSegmentBuilder",
    "Writer",
    "execute_concurrent",
    "execute_concurrent_with_args",
]
