"""Writes `items.rs`: a program that uses every public item of aerospike-core, from its rustdoc JSON.

    cp -r ~/.cargo/registry/src/*/aerospike-core-3.0.0 /tmp/aerospike-core
    cd /tmp/aerospike-core
    RUSTC_BOOTSTRAP=1 cargo rustdoc --lib --no-default-features --features tls,rt-tokio -- \\
        -Z unstable-options --output-format json --document-hidden-items
    python3 generate.py target/doc/aerospike_core.json > items.rs && rustfmt --edition 2024 items.rs

Left out are methods that traits bring along (`From`, `Display`, ...). What Aerolane does not have is in `REFUSED`,
and in docs/differences.md.
"""

import json
import re
import sys
from collections import defaultdict
from typing import Any

Item = dict[str, Any]

REFUSED = {
    # What aerospike-core records with; ours is behind `client.metrics()`. The types of snapshots are in `metrics`.
    *(f"metrics::{name}" for name in ("CloseReason", "NodeMetrics", "OpenFailure", "SyncHistogram")),
    *(f"metrics::node_metrics::{name}" for name in ("CloseReason", "LiveCounters", "NodeMetrics", "OpenFailure")),
    *(f"metrics::{module}" for module in ("cluster", "histogram", "policy")),
    *(
        f"NodeMetricsSnapshot::{name}"
        for name in ("aggregate", "new", "pool_gauges", "set_error_rate", "set_labels", "set_open_connections")
    ),
    "NodeMetricsSnapshot::set_pool_gauges",
}

# What is passed for a parameter that may be of many types.
GENERIC = {
    "Into<String>": '"x"',
    "Into<Bins>": "client::Bins::All",
    "Into<Value>": "client::Value::Nil",
    "Into<Vec<Operation>>": "Vec::<client::operations::Operation>::new()",
    "Into<Vec<Value>>": "Vec::<client::Value>::new()",
    "Into<Vec<u8>>": "Vec::<u8>::new()",
    "Into<Vec<CdtContext>>": "Vec::<client::operations::cdt_context::CdtContext>::new()",
    "Into<Arc<ClientConfig>>": "any::<std::sync::Arc<rustls::ClientConfig>>()",
    "EqFilterValue": "1_i64",
    "RangeFilterValue": "1_i64",
}


# What is passed to methods with callbacks or lists.
OF_METHODS = {
    "Client::batch_foreach": "|_, _| std::future::ready(true)",
    "Client::query_foreach": "|_| std::future::ready(true)",
    "operations::cdt_context::Path::extend": "Vec::<client::operations::cdt_context::CdtContext>::new()",
    "operations::cdt_context::Path::map_keys_in": "Vec::<client::Value>::new()",
}


class Crate:
    def __init__(self, crate: Item) -> None:
        self.index: dict[str, Item] = crate["index"]
        self.names: dict[str, set[str]] = defaultdict(set)
        self.types: dict[str, int] = {}
        self.seen: set[tuple[int, str]] = set()
        self.walk(crate["root"], "")

    def item(self, key: int) -> Item | None:
        return self.index.get(str(key))

    def walk(self, key: int, path: str) -> None:
        """Notes the names in a module, and the types that they stand for."""
        if (key, path) in self.seen:
            return
        self.seen.add((key, path))
        module = self.item(key)
        assert module is not None
        for child in module["inner"]["module"]["items"]:
            found = self.item(child)
            if found is None or found["visibility"] != "public":
                continue
            ((kind, inner),) = found["inner"].items()
            if kind == "use":
                target = None if inner["id"] is None else self.item(inner["id"])
                if inner["is_glob"]:
                    if target is not None and "module" in target["inner"]:
                        self.walk(inner["id"], path)
                    continue
                self.name(path, inner["name"], inner["id"], target)
            elif kind != "impl":
                self.name(path, found["name"], child, found)

    def name(self, path: str, name: str, key: int | None, target: Item | None) -> None:
        if target is not None and "module" in target["inner"] and key is not None:
            self.names[path].add(name)
            self.walk(key, f"{path}{name}::")
            return
        if target is not None and "macro" in target["inner"] and path:
            return
        self.names[path].add(name)
        if target is not None and key is not None and ({"struct", "enum"} & target["inner"].keys()):
            # By its shortest path.
            known = [p for p, k in self.types.items() if k == key]
            if not known or known[0].count("::") > path.count("::"):
                self.types = {p: k for p, k in self.types.items() if k != key}
                self.types[f"{path}{name}"] = key


def rendered(ty: Any) -> str:
    """Returns a bound's trait with its arguments, in few words."""
    if isinstance(ty, str):
        return ty
    if "resolved_path" in ty:
        return path_of(ty["resolved_path"])
    if "primitive" in ty:
        return str(ty["primitive"])
    if "generic" in ty:
        return str(ty["generic"])
    if "slice" in ty:
        return f"[{rendered(ty['slice'])}]"
    if "borrowed_ref" in ty:
        return "&" + rendered(ty["borrowed_ref"]["type"])
    return "?"


def path_of(path: Item) -> str:
    name = path["path"].rsplit("::", 1)[-1]
    args = path.get("args") or {}
    inner = args.get("angle_bracketed", {}).get("args", []) if args else []
    types = [rendered(arg["type"]) for arg in inner if "type" in arg]
    return f"{name}<{', '.join(types)}>" if types else str(name)


def bounds_of(bounds: list[Item]) -> str:
    names = [path_of(bound["trait_bound"]["trait"]) for bound in bounds if "trait_bound" in bound]
    return " + ".join(name for name in names if name not in {"Send", "Sync", "Sized"})


def argument(ty: Any, generics: dict[str, str]) -> tuple[str, str | None]:
    """Returns what is passed for a parameter; and the bound, if it is not known what to pass."""
    if "impl_trait" in ty:
        bound = bounds_of(ty["impl_trait"])
        return GENERIC.get(bound, f"any() /* {bound} */"), None if bound in GENERIC else bound
    if "generic" in ty and ty["generic"] in generics:
        bound = generics[ty["generic"]]
        return GENERIC.get(bound, f"any() /* {bound} */"), None if bound in GENERIC else bound
    return "any()", None


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as source:
        crate = Crate(json.load(source))
    out = ["// Generated by generate.py from aerospike-core 3.0.0: every public item, used once."]
    out.append("// Included once for each crate: only the `use` line in front differs. Nothing here is ever called.\n")
    out.append("fn any<T>() -> T {\n    unreachable!()\n}\n")
    for path in sorted(crate.names):
        names = sorted(n for n in crate.names[path] if f"{path}{n}" not in REFUSED)
        if path.removesuffix("::") in REFUSED:
            continue
        module = "names_" + (re.sub("_+", "_", path.replace("::", "_")).strip("_") or "root")
        out.append(f"mod {module} {{\n    use super::client::{path}{{{', '.join(names)}}};\n}}\n")
    unknown = []
    for path, key in sorted(crate.types.items()):
        found = crate.item(key)
        assert found is not None
        if path in REFUSED:
            continue
        ((kind, inner),) = found["inner"].items()
        body: list[str] = []
        if kind == "enum":
            variants = [v["name"] for v in map(crate.item, inner["variants"]) if v is not None]
            out.append(f"mod variants_of_{path.replace('::', '_').lower()} {{")
            out.append(f"    use super::client::{path}::{{{', '.join(variants)}}};\n}}\n")
        elif "plain" in inner["kind"]:
            fields = [f for f in map(crate.item, inner["kind"]["plain"]["fields"]) if f is not None]
            public = [f["name"] for f in fields if f["visibility"] == "public"]
            if public:
                named = ", ".join(f"{name}: _" for name in public)
                body.append(f"let client::{path} {{ {named}, .. }} = any();")
        methods = []
        for block in map(crate.item, inner["impls"]):
            if block is None or block["inner"]["impl"]["trait"] is not None:
                continue
            for method in map(crate.item, block["inner"]["impl"]["items"]):
                if method is not None and method["visibility"] == "public":
                    methods.append(method)
        for method in sorted(methods, key=lambda m: str(m["name"])):
            name = method["name"]
            if f"{path}::{name}" in REFUSED:
                continue
            if "function" not in method["inner"]:
                body.append(f"let _ = client::{path}::{name};")
                continue
            function = method["inner"]["function"]
            generics = {
                parameter["name"]: bounds_of(parameter["kind"]["type"]["bounds"])
                for parameter in function["generics"]["params"]
                if "type" in parameter["kind"]
            }
            for where in function["generics"]["where_predicates"]:
                if "bound_predicate" in where and "generic" in where["bound_predicate"]["type"]:
                    generics[where["bound_predicate"]["type"]["generic"]] = bounds_of(
                        where["bound_predicate"]["bounds"]
                    )
            arguments = []
            for _, ty in function["sig"]["inputs"]:
                text, open_bound = argument(ty, generics)
                if open_bound in {"Fn", "IntoIterator"} and f"{path}::{name}" in OF_METHODS:
                    text, open_bound = OF_METHODS[f"{path}::{name}"], None
                arguments.append(text)
                if open_bound is not None:
                    unknown.append(f"{path}::{name}: {open_bound}")
            body.append(f"let _ = client::{path}::{name}({', '.join(arguments)});")
        if body:
            function_name = path.replace("::", "_").lower()
            out.append(f"fn of_{function_name}() {{\n    " + "\n    ".join(body) + "\n}\n")
    print("\n".join(out))
    for line in unknown:
        print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
