"""The names of aerospike-native and of aerospike-sdk, beside ours: classes, members, arguments, defaults, and what is
refused. What ours do not have, or have otherwise, stands here by name, with the reason.

Skipped where these clients are not installed; `make test-peers` installs them.
"""

import ast
import importlib
import inspect
import os
import pathlib

import pytest

import aerolane
import aerolane.exceptions
import aerolane.metrics
import aerolane.policy
import aerolane.sync
from aerolane import native

os.environ.setdefault("AEROSPIKE_NO_UVLOOP", "1")
peer = pytest.importorskip("aerospike_native", reason="aerospike-native is not installed")
STUB = ast.parse((pathlib.Path(peer.__file__).parent / "_native.pyi").read_text())

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

PRIVATE = "the peer's own, for its SDK"

# Names that ours do not have, each with the reason.
MISSING = {
    "Client.__new__": "a client that is not connected; new_client makes those that are",
    "Operation.__new__": "an operation that does nothing; its constructors have names",
    "BasePolicy.__new__": "a base class for isinstance; ReadPolicy and the others have its properties",
    **dict.fromkeys([f"Client._submit_{name}" for name in ("many_read", "many_write")], PRIVATE),
    **dict.fromkeys([f"Client._submit_{name}" for name in ("coalesced_read", "coalesced_write")], PRIVATE),
    "FilterExpression._debug_inner": PRIVATE,
    **dict.fromkeys(
        [f"{name}.base_policy" for name in ("ReadPolicy", "WritePolicy", "BatchPolicy", "QueryPolicy")],
        "there it gives a copy, whose changes are lost; the properties are those of the policy itself",
    ),
}
# Properties that can be set there.
READ_ONLY = {
    "TlsConfig.for_login_only": "a configuration is made once, with what stands in files read: it does not change",
}
# Defaults that are others here.
DEFAULTS = {
    "ClientPolicy.conn_pools_per_node": "one pool for a node, without locks to spread over several",
    "ClientPolicy.custom_client_id": "the name of the client",
}
# Enumerations whose ints are the protocol's numbers here, and places in a list there.
NUMBERS_OF_THE_PROTOCOL = {"MapOrder", "PrivilegeCode"}
# Special methods that are part of the interface.
SPECIAL = ("__new__", "__getitem__", "__setitem__", "__iter__", "__aiter__", "__len__")
# Of classes that are nothing but containers, and of Python's own here.
CONTAINERS = {"Blob", "List", "Map", "SortedMap"}
# Ours of another class: where its peer has them in a base class, and a list has all of them anyway.
PROPERTIES_OF_ERRORS = {"ServerError"}


def stub_of(node):
    """A class of the stub: its methods by name as lists of (name, is keyword-only, has default), its properties, those
    that can be set, and its constants."""
    methods, properties, settable, constants = {}, set(), set(), set()
    for part in node.body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {ast.unparse(decorator) for decorator in part.decorator_list}
            if "property" in decorators:
                properties.add(part.name)
            elif any(decorator.endswith(".setter") for decorator in decorators):
                settable.add(part.name)
            else:
                methods[part.name] = arguments_of(part, "staticmethod" not in decorators)
        elif isinstance(part, ast.AnnAssign):
            constants.add(part.target.id)
        elif isinstance(part, ast.Assign):
            constants.add(part.targets[0].id)
    return methods, properties, settable, constants


def arguments_of(function, bound):
    of = function.args
    places = [argument.arg for argument in of.posonlyargs + of.args][bound:]
    optional = len(places) - len(of.defaults)
    found = [(name, False, n >= optional) for n, name in enumerate(places)]
    return found + [
        (a.arg, True, default is not None) for a, default in zip(of.kwonlyargs, of.kw_defaults, strict=True)
    ]


CLASSES = {node.name: stub_of(node) for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: arguments_of(node, False) for node in STUB.body if isinstance(node, ast.FunctionDef)}
(NAMES,) = [ast.literal_eval(node.value) for node in STUB.body if isinstance(node, ast.Assign)][:1]


def ours_of(function):
    """The parameters of one of ours, without that of the object."""
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls", "$self"):
        del parameters[0]
    return parameters


def difference(theirs, ours):
    """Why a call that the peer takes is not taken by ours; `None`: it is."""
    places = [parameter for parameter in ours if parameter.kind is not parameter.KEYWORD_ONLY]
    by_name = {parameter.name: parameter for parameter in ours}
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in ours):
        return None
    for place, (name, keyword_only, optional) in enumerate(theirs):
        if keyword_only:
            if name not in by_name:
                return f"no argument {name}"
        elif place >= len(places):
            return f"no argument {place + 1}, {name}"
        elif places[place].kind is places[place].POSITIONAL_ONLY:
            pass
        elif places[place].name != name:
            return f"argument {place + 1} is {places[place].name}, not {name}"
        parameter = by_name.get(name) or places[place]
        if optional and parameter.default is parameter.empty:
            return f"{name} is required"
    known = {name for name, *_ in theirs} | {p.name for p in places[: sum(not keyword for _, keyword, _ in theirs)]}
    required = [p.name for p in ours if p.default is p.empty and p.name not in known]
    return f"{required} are required" if required else None


# aerospike-native.


def test_each_name_is_there():
    missing = {name for name in NAMES if not hasattr(native, name)}
    assert missing <= MISSING.keys()


def members():
    for name, (methods, properties, _, constants) in CLASSES.items():
        if name in MISSING or name in CONTAINERS | PROPERTIES_OF_ERRORS:
            continue
        # Of each member of an enumeration.
        properties = properties - {"name", "value"} if name == "ResultCode" else properties
        for member in [*methods, *properties, *constants]:
            if not member.startswith("__") or member in SPECIAL:
                yield name, member


@pytest.mark.parametrize("name", sorted({name for name, _ in members()}))
def test_members(name):
    ours, lacking = getattr(native, name), []
    methods = CLASSES[name][0]
    for member in [member for kind, member in members() if kind == name]:
        if f"{name}.{member}" in MISSING:
            continue
        if not hasattr(ours, member):
            # Properties of the base policy are properties of each policy.
            of_policies = [hasattr(kind, member) for kind in (native.ReadPolicy, native.WritePolicy)]
            if name != "BasePolicy" or not all(of_policies):
                lacking.append(member)
        elif member in methods and member in ("__new__",):
            wrong = difference(methods[member], ours_of(ours))
            lacking += [f"{name}: {wrong}"] * bool(wrong)
        elif member in methods and not member.startswith("__"):
            wrong = difference(methods[member], ours_of(getattr(ours, member)))
            lacking += [f"{member}: {wrong}"] * bool(wrong)
    assert not lacking


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in MISSING])
def test_functions(name):
    assert difference(FUNCTIONS[name], ours_of(getattr(native, name))) is None


def test_enumerations_have_the_same_numbers():
    numbers, wrong = 0, []
    for name, (_, _, _, constants) in CLASSES.items():
        theirs, ours = getattr(peer, name, None), getattr(native, name, None)
        if ours is None:
            continue
        for member in constants:
            value = getattr(theirs, member)
            try:
                number = int(value)
            except TypeError:
                # Not a number there, such as `SpecialValue.NULL`: the name will do.
                wrong += [f"{name}.{member}"] * (not hasattr(ours, member))
                continue
            same = name in NUMBERS_OF_THE_PROTOCOL or int(getattr(ours, member, -1)) == number
            if not hasattr(ours, member) or not same:
                wrong.append(f"{name}.{member}")
            numbers += 1
    assert numbers > 250 and not wrong


# How to make one, of the classes that take arguments.
MADE = {
    "FastRng": lambda kind: kind(1),
    "GeoJSON": lambda kind: kind('{"type":"Point","coordinates":[1,2]}'),
    "HLL": lambda kind: kind(b"h"),
    "PartitionStatus": lambda kind: kind(7),
    "Statement": lambda kind: kind("test"),
    "TlsConfig": lambda kind: kind(None),
}
SETTABLE = [
    (name, member)
    for name, (_, _, settable, _) in CLASSES.items()
    for member in sorted(settable)
    if name not in MISSING and f"{name}.{member}" not in MISSING and name not in CONTAINERS | {"BasePolicy"}
]


@pytest.mark.parametrize(("name", "member"), SETTABLE, ids=[".".join(pair) for pair in SETTABLE])
def test_properties_can_be_set(name, member):
    ours = MADE.get(name, lambda kind: kind())(getattr(native, name))
    value = getattr(ours, member)
    if f"{name}.{member}" in READ_ONLY:
        with pytest.raises(AttributeError):
            setattr(ours, member, value)
        return
    setattr(ours, member, value)
    assert getattr(ours, member) == value


def comparable(m, value):
    """A value of a property, without the classes of a client."""
    for name in ("NAMESPACE_DEFAULT", "NEVER_EXPIRE", "DONT_UPDATE"):
        if type(value).__name__ == "Expiration" and value == getattr(m.Expiration, name):
            return name
    if type(value).__name__ == "Sampler":
        return value.range, value.threshold
    if value is None or type(value) in (bool, int, float, str, list, dict, tuple):
        return value
    return getattr(value, "name", None) or repr(value).rpartition(".")[2]


POLICIES = [name for name in CLASSES if name.endswith("Policy") and name not in {*MISSING, "BasePolicy"}]
POLICIES = [name for name in POLICIES if "__new__" in CLASSES[name][0]]


@pytest.mark.parametrize("name", POLICIES)
def test_defaults_of_policies(name):
    theirs, ours = getattr(peer, name)(), getattr(native, name)()
    properties = CLASSES[name][1] | (CLASSES["BasePolicy"][1] if hasattr(theirs, "socket_timeout") else set())
    others = {}
    for member in sorted(properties):
        if f"{name}.{member}" in MISSING or not hasattr(theirs, member):
            continue
        expected, found = comparable(peer, getattr(theirs, member)), comparable(native, getattr(ours, member))
        if expected != found:
            others[f"{name}.{member}"] = (expected, found)
    assert others.keys() == {member for member in DEFAULTS if member.startswith(f"{name}.")}, others


def test_exceptions():
    names = [name for name in vars(peer.exceptions) if isinstance(vars(peer.exceptions)[name], type)]
    theirs = importlib.import_module("aerolane.native.exceptions")
    assert len(names) > 35
    assert not [name for name in names if not hasattr(theirs, name)]


def test_arguments_of_a_wrong_type():
    """What a constructor of the peer does not take, ours does not take either, and says so with an error that is a
    `TypeError` or one of values."""
    from test_peers_operations import (
        RECORDS,
        constructors,
        expression_argument,
        operation_argument,
    )

    tried = 0
    for kind in [*RECORDS, "FilterExpression"]:
        for name, arguments, count in constructors(kind):
            for wrong in range(len(arguments)):
                failed = []
                for m in (peer, native):
                    if kind == "FilterExpression":
                        values = [expression_argument(m, name, *a, 0, n) for n, a in enumerate(arguments)]
                    else:
                        values = [operation_argument(m, kind, *argument, 0, [b"h"]) for argument in arguments]
                    values[wrong] = object()
                    named = {a[0]: value for a, value in zip(arguments[count:], values[count:], strict=True)}
                    try:
                        getattr(getattr(m, kind), name)(*values[:count], **named)
                    except Exception as error:
                        failed.append(error)
                    else:
                        failed.append(None)
                theirs, ours = failed
                if theirs is not None:
                    tried += 1
                    where = f"{kind}.{name}, {arguments[wrong][0]}: {theirs!r}"
                    assert isinstance(ours, TypeError | ValueError), f"{where}, {ours!r}"
    assert tried > 800


# aerospike-sdk: the front door.

sdk = pytest.importorskip("aerospike_sdk", reason="aerospike-sdk is not installed")

FRONT_DOOR = [
    (importlib.import_module(f"aerospike_sdk{where}"), importlib.import_module(f"aerolane{where}"), name)
    for where, names in {
        "": ["AsyncPool", "Cluster", "ClusterDefinition", "DataSet", "Host", "Node", "Session"],
        ".sync": ["Cluster", "ClusterDefinition", "Host", "IndexBuilder", "InfoCommands", "Node", "Session"],
        ".policy": ["Behavior", "Settings"],
        ".metrics": ["AsyncMetricsExporter", "MetricsExporter", "MetricsWriter"],
        ".info_types": [
            *("NamespaceDetail", "SetDetail", "Sindex", "SindexDetail", "StorageEngine", "StorageFileDetail"),
        ],
    }.items()
    for name in names
]
# What the SDK has in modules of its own.
FRONT_DOOR += [
    (importlib.import_module(f"aerospike_sdk.{where}"), importlib.import_module(f"aerolane{home}"), name)
    for where, home, names in (
        *(
            (
                f"{surface}.background",
                home,
                [
                    *("BackgroundTaskSession", "BackgroundOperationBuilder", "BackgroundUdfFunctionBuilder"),
                    "BackgroundUdfBuilder",
                ],
            )
            for surface, home in (("aio", ""), ("sync", ".sync"))
        ),
        ("aio.info", "", ["InfoCommands"]),
        ("aio.operations.index", "", ["IndexBuilder"]),
        *(
            (f"{surface}.operations.query", home, ["DataSetWriteBuilder", "QueryBuilder", "RowWriteBuilder"])
            for surface, home in (("aio", ""), ("sync", ".sync"))
        ),
        *(
            (f"{surface}.operations.query", home, ["WriteSegmentBuilder"])
            for surface, home in (("aio", ""), ("sync", ".sync"))
        ),
        *(
            (f"{surface}.operations.udf", home, ["UdfBuilder", "UdfFunctionBuilder"])
            for surface, home in (("aio", ""), ("sync", ".sync"))
        ),
        *(
            (f"{surface}.transactional_session", home, ["TransactionalSession"])
            for surface, home in (("aio", ""), ("sync", ".sync"))
        ),
        ("sync.record_stream", ".sync", ["RecordStream"]),
        ("record_stream", "", ["RecordStream"]),
        ("record_result", "", ["RecordResult"]),
        ("operation_result", "", ["OperationResult"]),
        ("hll_config", "", ["HllConfig"]),
        ("query_shared", "", ["QueryBinBuilder", "QueryHint", "WriteBinBuilder"]),
        ("aio.operations.cdt_read", "", ["CdtPathBuilder", "CdtReadBuilder", "CdtReadInvertableBuilder"]),
        ("aio.operations.cdt_write", "", ["CdtWriteBuilder", "CdtWriteInvertableBuilder"]),
        ("aio.client", "", ["Client"]),
        ("sync.client", "", ["SyncClient"]),
        ("metrics.policy", ".metrics", ["MetricsPolicy"]),
        ("metrics.snapshot", ".metrics", ["DerivedHistogram", "MetricsSnapshot"]),
    )
    for name in names
]
# What ours do not have of these, each with the reason.
NOT_HERE = {
    "RecordStream.chain": "streams come from operations, and are read one after the other",
}
# Arguments that may be given by name there, and here by position alone.
BY_POSITION = {
    "arg1": "the keys of verbs, which are one, several, or a list",
    "bin_name": "the names of bins of rows, which are one or several",
}


def theirs_of(function):
    """The parameters of one of the SDK's: (name, is keyword-only, has default)."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [(p.name, p.kind is p.KEYWORD_ONLY, p.default is not p.empty) for p in parameters if p.kind not in kinds]


def test_each_name_of_the_sdk_is_there():
    for where, module in (
        ("", aerolane),
        (".sync", aerolane.sync),
        (".policy", aerolane.policy),
        (".metrics", aerolane.metrics),
    ):
        theirs = importlib.import_module(f"aerospike_sdk{where}")
        missing = [name for name in theirs.__all__ if not hasattr(module, name)]
        assert not missing
    theirs = importlib.import_module("aerospike_sdk.exceptions")
    kinds = {name: kind for name, kind in vars(theirs).items() if isinstance(kind, type)}
    errors = [name for name, kind in kinds.items() if kind.__module__ == theirs.__name__]
    assert len(errors) > 30
    assert not [name for name in errors if not hasattr(aerolane.exceptions, name)]


@pytest.mark.parametrize(("theirs", "ours", "name"), FRONT_DOOR, ids=[f"{m.__name__}.{n}" for m, _, n in FRONT_DOOR])
def test_the_front_door(theirs, ours, name):
    theirs, ours, lacking = getattr(theirs, name), getattr(ours, name), []
    # Made by others, or as dicts are; the argument of a pool is the alpha's factory, too.
    if name in ("ClusterDefinition", "DataSet", "Host", "MetricsWriter", "Settings"):
        wrong = difference(theirs_of(theirs), ours_of(ours))
        lacking += [f"{name}: {wrong}"] * bool(wrong)
    for member in dir(theirs):
        if member.startswith("_"):
            continue
        made = inspect.getattr_static(theirs, member)
        if issubclass(theirs, dict) and made is vars(dict).get(member):
            assert issubclass(ours, dict)
        elif f"{name}.{member}" in NOT_HERE:
            assert not hasattr(ours, member)
        elif not hasattr(ours, member):
            # A field of a dataclass without a default is no attribute of the class; there it has one.
            lacking.append(member)
        elif callable(getattr(theirs, member)) and not isinstance(made, property):
            wrong = difference(theirs_of(getattr(theirs, member)), ours_of(getattr(ours, member)))
            lacking += [f"{member}: {wrong}"] * bool(wrong)
            lacking += [f"{member}: no {n} by name" for n in not_by_name(theirs, ours, member)]
    assert not lacking


def not_by_name(theirs, ours, member):
    """The arguments that may be given by name there, and may not here."""
    taken = {p.name for p in ours_of(getattr(ours, member)) if p.kind is not p.POSITIONAL_ONLY}
    if any(p.kind is p.VAR_KEYWORD for p in ours_of(getattr(ours, member))):
        return
    for parameter in inspect.signature(getattr(theirs, member)).parameters.values():
        named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if named and parameter.name not in {"self", "cls"} | taken | BY_POSITION.keys():
            yield parameter.name


def test_errors_of_the_sdk_derive_as_theirs_do():
    theirs = importlib.import_module("aerospike_sdk.exceptions")
    for name, kind in vars(theirs).items():
        if isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ == theirs.__name__:
            for base in kind.__mro__[1:-3]:
                ours = getattr(aerolane.exceptions, name)
                assert issubclass(ours, getattr(aerolane.exceptions, base.__name__)), (name, base.__name__)


# The lists above.


def test_no_exception_is_stale():
    """Whatever is listed as missing is missing: what has come since then must leave the list."""
    stale = []
    for name in MISSING:
        kind, _, member = name.partition(".")
        if member == "__new__":
            continue
        if hasattr(getattr(native, kind, None), member) if member else hasattr(native, kind):
            stale.append(name)
    assert not stale
    for name in ("Client", "Operation", "BasePolicy"):
        with pytest.raises(TypeError):
            getattr(native, name)()
