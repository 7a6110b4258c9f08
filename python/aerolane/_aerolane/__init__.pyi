"""The compiled module. A package to type checkers only: at run time it is one shared library."""

from typing import Self, TypedDict, final

from ._admin import Privilege as Privilege
from ._admin import Role as Role
from ._admin import User as User
from ._awaitable import Awaitable as Awaitable
from ._awaitable import AwaitableContext as AwaitableContext
from ._base_policy import BasePolicy as BasePolicy
from ._batch import BatchDeleteOp as BatchDeleteOp
from ._batch import BatchReadOp as BatchReadOp
from ._batch import BatchRecord as BatchRecord
from ._batch import BatchRecordStream as BatchRecordStream
from ._batch import BatchUDFOp as BatchUDFOp
from ._batch import BatchWriteOp as BatchWriteOp
from ._behavior import Behavior as Behavior
from ._behavior import Settings as Settings
from ._behavior import get_all_behaviors as get_all_behaviors
from ._behavior import get_behavior as get_behavior
from ._behavior import get_behavior_or_default as get_behavior_or_default
from ._call_policies import BatchPolicy as BatchPolicy
from ._call_policies import QueryPolicy as QueryPolicy
from ._call_policies import ReadPolicy as ReadPolicy
from ._call_policies import WritePolicy as WritePolicy
from ._cdt import CTX as CTX
from ._cdt import BitPolicy as BitPolicy
from ._cdt import BitwiseOverflowActions as BitwiseOverflowActions
from ._cdt import BitwiseResizeFlags as BitwiseResizeFlags
from ._cdt import BitWriteFlags as BitWriteFlags
from ._cdt import ExpReadFlags as ExpReadFlags
from ._cdt import ExpType as ExpType
from ._cdt import ExpWriteFlags as ExpWriteFlags
from ._cdt import HLLPolicy as HLLPolicy
from ._cdt import HLLWriteFlags as HLLWriteFlags
from ._cdt import ListOrderType as ListOrderType
from ._cdt import ListPolicy as ListPolicy
from ._cdt import ListReturnType as ListReturnType
from ._cdt import ListSortFlags as ListSortFlags
from ._cdt import ListWriteFlags as ListWriteFlags
from ._cdt import LoopVarPart as LoopVarPart
from ._cdt import MapOrder as MapOrder
from ._cdt import MapPolicy as MapPolicy
from ._cdt import MapReturnType as MapReturnType
from ._cdt import MapWriteFlags as MapWriteFlags
from ._cdt import MapWriteMode as MapWriteMode
from ._cdt import ModifyFlags as ModifyFlags
from ._cdt import QueryWhereFlags as QueryWhereFlags
from ._cdt import RegexFlag as RegexFlag
from ._cdt import SelectFlags as SelectFlags
from ._cdt import StringNumericType as StringNumericType
from ._cdt import StringRegexFlags as StringRegexFlags
from ._cdt import StringWriteFlags as StringWriteFlags
from ._client_policy import ClientPolicy as ClientPolicy
from ._enums import AuthMode as AuthMode
from ._enums import CollectionIndexType as CollectionIndexType
from ._enums import CommandType as CommandType
from ._enums import CommitLevel as CommitLevel
from ._enums import Concurrency as Concurrency
from ._enums import GenerationPolicy as GenerationPolicy
from ._enums import IndexType as IndexType
from ._enums import LatencyType as LatencyType
from ._enums import LatencyUnit as LatencyUnit
from ._enums import Mode as Mode
from ._enums import OpKind as OpKind
from ._enums import OpShape as OpShape
from ._enums import PrivilegeCode as PrivilegeCode
from ._enums import QueryDuration as QueryDuration
from ._enums import QuerySelection as QuerySelection
from ._enums import ReadModeAP as ReadModeAP
from ._enums import ReadModeSC as ReadModeSC
from ._enums import RecordExistsAction as RecordExistsAction
from ._enums import Replica as Replica
from ._enums import Scope as Scope
from ._enums import TaskStatus as TaskStatus
from ._enums import UDFLang as UDFLang
from ._enums import WhenFull as WhenFull
from ._errors import AerospikeError as AerospikeError
from ._errors import AuthenticationError as AuthenticationError
from ._errors import AuthorizationError as AuthorizationError
from ._errors import BackoffError as BackoffError
from ._errors import BadResponseError as BadResponseError
from ._errors import BatchError as BatchError
from ._errors import BinError as BinError
from ._errors import BinExistsError as BinExistsError
from ._errors import BinNotFoundError as BinNotFoundError
from ._errors import BinOpInvalidError as BinOpInvalidError
from ._errors import BinTypeError as BinTypeError
from ._errors import CapacityError as CapacityError
from ._errors import ClientClosedError as ClientClosedError
from ._errors import ClientError as ClientError
from ._errors import CommitError as CommitError
from ._errors import ConnectionError as ConnectionError
from ._errors import ElementError as ElementError
from ._errors import ElementExistsError as ElementExistsError
from ._errors import ElementNotFoundError as ElementNotFoundError
from ._errors import ErrorDetailVerbosity as ErrorDetailVerbosity
from ._errors import ExpressionTrace as ExpressionTrace
from ._errors import FilteredOutError as FilteredOutError
from ._errors import GenerationError as GenerationError
from ._errors import IndexAlreadyExistsError as IndexAlreadyExistsError
from ._errors import IndexNotFoundError as IndexNotFoundError
from ._errors import InvalidArgumentError as InvalidArgumentError
from ._errors import InvalidNamespaceError as InvalidNamespaceError
from ._errors import InvalidNodeError as InvalidNodeError
from ._errors import KeyBusyError as KeyBusyError
from ._errors import MaxErrorRateError as MaxErrorRateError
from ._errors import PoolExhaustedError as PoolExhaustedError
from ._errors import QueryError as QueryError
from ._errors import QueryTerminatedError as QueryTerminatedError
from ._errors import QuotaError as QuotaError
from ._errors import RecordError as RecordError
from ._errors import RecordExistsError as RecordExistsError
from ._errors import RecordNotFoundError as RecordNotFoundError
from ._errors import RecordTooBigError as RecordTooBigError
from ._errors import ResultCode as ResultCode
from ._errors import SecondaryIndexError as SecondaryIndexError
from ._errors import SecurityError as SecurityError
from ._errors import SerializationError as SerializationError
from ._errors import SubCode as SubCode
from ._errors import TimeoutError as TimeoutError
from ._errors import TransactionError as TransactionError
from ._errors import UdfError as UdfError
from ._errors import _restore as _restore
from ._errors import error_from_code as error_from_code
from ._expiration import Expiration as Expiration
from ._expression import FilterExpression as FilterExpression
from ._metrics import ClusterMetrics as ClusterMetrics
from ._metrics import CommandMetric as CommandMetric
from ._metrics import Histogram as Histogram
from ._metrics import MetricsPolicy as MetricsPolicy
from ._metrics import NodeMetricsSnapshot as NodeMetricsSnapshot
from ._metrics import Sampler as Sampler
from ._native import NativeClient as NativeClient
from ._native import NativeNode as NativeNode
from ._native import Version as Version
from ._native import _LocalClient as _LocalClient
from ._native import new_client as new_client
from ._native import new_client_blocking as new_client_blocking
from ._operations import BaseOperation as BaseOperation
from ._operations import BitOperation as BitOperation
from ._operations import CdtOperation as CdtOperation
from ._operations import ExpOperation as ExpOperation
from ._operations import HllOperation as HllOperation
from ._operations import ListOperation as ListOperation
from ._operations import MapOperation as MapOperation
from ._operations import Operation as Operation
from ._operations import StringOperation as StringOperation
from ._operations import has_any_write_op as has_any_write_op
from ._query import ArrowRecords as ArrowRecords
from ._query import ArrowStream as ArrowStream
from ._query import DropIndexTask as DropIndexTask
from ._query import ExecuteTask as ExecuteTask
from ._query import Filter as Filter
from ._query import IndexTask as IndexTask
from ._query import NumpyRecords as NumpyRecords
from ._query import PartitionFilter as PartitionFilter
from ._query import PartitionStatus as PartitionStatus
from ._query import QueryPlan as QueryPlan
from ._query import Recordset as Recordset
from ._query import RegisterTask as RegisterTask
from ._query import Statement as Statement
from ._query import UdfRemoveTask as UdfRemoveTask
from ._session import Client as Client
from ._session import Cluster as Cluster
from ._session import ClusterDefinition as ClusterDefinition
from ._session import DataSet as DataSet
from ._session import Host as Host
from ._session import NamespaceScStatus as NamespaceScStatus
from ._session import Node as Node
from ._session import Session as Session
from ._session import SyncClient as SyncClient
from ._session import SyncCluster as SyncCluster
from ._session import SyncClusterDefinition as SyncClusterDefinition
from ._session import SyncNode as SyncNode
from ._session import SyncSession as SyncSession
from ._step_policies import AdminPolicy as AdminPolicy
from ._step_policies import BatchDeletePolicy as BatchDeletePolicy
from ._step_policies import BatchReadPolicy as BatchReadPolicy
from ._step_policies import BatchUDFPolicy as BatchUDFPolicy
from ._step_policies import BatchWritePolicy as BatchWritePolicy
from ._step_policies import TxnRollPolicy as TxnRollPolicy
from ._step_policies import TxnVerifyPolicy as TxnVerifyPolicy
from ._testing import EmbeddedCluster as EmbeddedCluster
from ._testing import EmbeddedNode as EmbeddedNode
from ._testing import Fault as Fault
from ._tls import TlsConfig as TlsConfig
from ._txn import AbortStatus as AbortStatus
from ._txn import CommitErrorType as CommitErrorType
from ._txn import CommitStatus as CommitStatus
from ._txn import Txn as Txn
from ._txn import TxnState as TxnState
from ._values import HLL as HLL
from ._values import Blob as Blob
from ._values import FastRng as FastRng
from ._values import GeoJSON as GeoJSON
from ._values import Key as Key
from ._values import List as List
from ._values import Map as Map
from ._values import Record as Record
from ._values import SortedMap as SortedMap
from ._values import SpecialValue as SpecialValue
from ._values import UnknownValue as UnknownValue
from ._values import geojson as geojson
from ._values import null as null

__version__: str

@final
class _Floor:
    def __new__(cls) -> Self: ...
    def call(self, _key: object, _bins: object = None) -> Awaitable[None]: ...

class _BuildInfo(TypedDict):
    version: str
    profile: str
    opt_level: str
    features: list[str]
    target: str
    rustc: str
    abi3: bool
    free_threaded: bool

def build_info() -> _BuildInfo: ...
