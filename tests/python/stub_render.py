"""Renders stubs from the classes of the compiled module, and from tables of what these cannot say.

Names, arguments, defaults and docstrings are those of the compiled classes, which are made of the tables of verbs,
steps, operations, expressions and policies. `crates/py-bindings/stubs` has the types, and the bases that only stubs
have: each shows what several classes share.
"""

import enum
import inspect
import json
import re

from stub_table import SPECIAL, Member, Places, Table, attributes, compiled, homes
from stub_text import WIDTH, docstring, literal, separated, split, wrapped

# Where names of annotations come from that no stub defines.
LIBRARY = {
    name: module
    for module, names in {
        "aerolane.metrics": "AsyncMetricsExporter MetricsExporter",
        "aerolane.system_settings": "MetricsSettings SystemSettings TransactionSettings",
        "collections.abc": "AsyncIterable Callable Coroutine Generator Iterable Iterator Mapping Sequence",
        "contextvars": "Context",
        "datetime": "datetime timedelta",
        "enum": "Enum IntEnum",
        "os": "PathLike",
        "types": "ModuleType TracebackType",
        "typing": "Any ClassVar Generic Literal NamedTuple Never Protocol Self SupportsIndex TypeAlias "
        "TypedDict TypeVar Unpack final overload",
        "typing_extensions": "Buffer CapsuleType disjoint_base",
    }.items()
    for name in names.split()
}
# The awaitable of the standard library, where a stub has ours, too.
RENAMED = {"_Awaitable": ("collections.abc", "Awaitable")}


class Rendering:
    """One stub."""

    def __init__(self, table, file, places, homes):
        self.table, self.file, self.places, self.homes = table, file, places, homes
        self.used = set()

    def annotation(self, text):
        self.used |= set(re.findall(r"\b[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", text)))
        return text

    def method(self, name, member):
        """A method as lines."""
        entry = self.table.classes[name]
        given = entry.get("signatures", {}).get(member.name)
        doc = None if SPECIAL.fullmatch(member.name) else member.doc
        lines = []
        if given:
            for number, signature in enumerate(given):
                signature, _, comment = signature.partition("  # ")
                arguments, tail = split(self.annotation(signature))
                if len(given) > 1:
                    self.used.add("overload")
                    lines.append("    @overload")
                if member.kind:
                    lines.append(f"    @{member.kind}")
                lines += self.body(f"def {member.name}", arguments, tail, doc if number == 0 else None)
                if comment:
                    lines[-1] += f"  # {comment}"
            return lines
        if member.kind == "constant":
            return [f"    {member.name}: {self.annotation(self.gives(name, member))}"]
        if member.kind == "property":
            gives = self.annotation(self.gives(name, member))
            if self.table.is_attribute(name, member.name):
                return [f"    {member.name}: {gives}", *(literal(doc, "    ") if doc else [])]
            lines = ["    @property", *self.body(f"def {member.name}", ["self"], f" -> {gives}:", doc)]
            if takes := entry.get("setters", {}).get(member.name):
                value = f"value: {self.annotation(takes)}"
                lines += [
                    f"    @{member.name}.setter",
                    *self.body(f"def {member.name}", ["self", value], " -> None:", None),
                ]
            return lines
        first = {"staticmethod": [], "classmethod": ["cls"]}.get(member.kind, ["self"])
        if member.kind:
            lines.append(f"    @{member.kind}")
        if member.name == "__new__":
            first, gives = ["cls"], self.annotation("Self")
        else:
            gives = self.annotation(self.gives(name, member))
        arguments = first + self.arguments(name, member)
        return [*lines, *self.body(f"def {member.name}", arguments, f" -> {gives}:", doc)]

    def source(self, name):
        return f"crates/py-bindings/stubs/{self.table.classes[name]['table']}"

    def gives(self, name, member):
        found = self.table.returns(name, member.name)
        if found is None:
            raise SystemExit(f"{self.source(name)}: {name}.{member.name} has no type in `returns`")
        return found

    def arguments(self, name, member):
        """The arguments of a method, as they are written."""
        found, stage = [], None
        parameters = [p for p in member.signature.parameters.values() if p.name not in ("self", "cls")]
        for parameter in parameters:
            if stage == parameter.POSITIONAL_ONLY != parameter.kind:
                found.append("/")
            after_star = stage in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
            if parameter.kind == parameter.KEYWORD_ONLY and not after_star:
                found.append("*")
            stage = parameter.kind
            default = parameter.default
            type = self.table.type(name, member.name, parameter.name) or ("bool" if isinstance(default, bool) else None)
            if type is None:
                lacks = f"{name}.{member.name} has no type for its argument {parameter.name}"
                raise SystemExit(f"{self.source(name)}: {lacks}")
            if default is None and "None" not in type and type not in ("Any", "object"):
                type += " | None"
            stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
            shown = "..." if default is ... else json.dumps(default) if isinstance(default, str) else repr(default)
            shown = "" if default is parameter.empty else f" = {shown}"
            found.append(f"{stars}{parameter.name}: {self.annotation(type)}{shown}")
        if stage == inspect.Parameter.POSITIONAL_ONLY:
            found.append("/")
        return found

    def body(self, head, arguments, tail, doc):
        if doc is None:
            return wrapped(head, arguments, f"{tail} ...", "    ")
        return wrapped(head, arguments, tail, "    ") + literal(doc, " " * 8)

    def shown(self, entry):
        """A class as lines."""
        name = entry["name"]
        own = getattr(compiled, name, None)
        if own and issubclass(own, enum.Enum):
            return self.enumeration(name, own)
        decorators = entry.get("decorators", ["final"] if own else [])
        self.used |= set(decorators)
        bases = entry.get("bases")
        lines = [f"@{decorator}" for decorator in decorators]
        if bases:
            parts = separated(self.annotation(bases))
            lines += wrapped(f"class {name}", parts, ":", "")
        else:
            lines.append(f"class {name}:")
        doc = docstring(own) if own else entry.get("doc")
        if doc is None:
            raise SystemExit(f"{name} has no docstring")
        lines += literal(doc, "    ")
        members = self.in_order(name, own)
        fields = [f"    {field}: {self.annotation(type)}" for field, type in entry.get("fields", {}).items()]
        if members or fields:
            lines += ["", *fields]
        for member in members:
            lines += self.method(name, member)
        return lines

    def in_order(self, name, own):
        """The members of a class: attributes in the order in which its constructor takes them, special methods last."""
        text = getattr(own, "__text_signature__", None)
        taken = list(inspect.signature(own).parameters) if text else []

        known = list(attributes(own)) if own else []

        def place(member):
            if member.name == "__new__":
                return (0,)
            if member.kind == "constant":
                return 1, known.index(member.name)
            if self.table.is_attribute(name, member.name):
                return 1, taken.index(member.name) if member.name in taken else len(taken), *self.places(name, member)
            return 3 if SPECIAL.fullmatch(member.name) else 2, *self.places(name, member)

        return sorted(self.table.members[name], key=place)

    def enumeration(self, name, own):
        """An enum as lines."""
        base = self.annotation("IntEnum" if issubclass(own, enum.IntEnum) else "Enum")
        lines = [f"class {name}({base}):", *literal(docstring(own), "    "), ""]
        for member in own.__members__:
            value = own[member].value
            lines.append(f"    {member} = {json.dumps(value) if isinstance(value, str) else value}")
        for member in self.table.classes[name].get("returns", ()):
            lines += self.method(name, Member(own, member))
        if base == "Enum" and hasattr(own, "__int__"):
            lines.append("    def __int__(self) -> int: ...")
        return lines

    def lines(self, text):
        """Lines of the table, with the docstring of their class where they say so."""
        found = []
        for line in self.annotation(text).splitlines():
            if line.strip() == "{docstring}":
                name = re.match(r"(?:class|def) (\w+)", found[0])[1]
                found += literal(docstring(getattr(compiled, name)), "    ")
            else:
                found.append(line)
        return found

    def render(self):
        content = self.table.files[self.file]
        blocks = []
        for entry in content["class"]:
            if "name" in entry:
                blocks.append(self.shown(entry))
            else:
                blocks.append(self.lines(entry["text"].rstrip()))
        variables = content.get("typevars", {})
        head = [f'"""{content["doc"]}"""']
        if variables:
            self.used.add("TypeVar")
        imports = self.imports()
        lines = [*head, "", *imports, *([""] if imports else [])]
        lines += [f'{name} = TypeVar("{name}"{", " + rest if rest else ""})' for name, rest in variables.items()]
        if variables:
            lines.append("")
        for number, block in enumerate(blocks):
            # An alias stands close to the one before.
            if number and not (block[0].startswith("_") and blocks[number - 1][-1][:1].isalpha()):
                lines.append("")
            lines += block
        return "\n".join(lines) + "\n"

    def imports(self):
        """The imports, in the order of the linter."""
        own = self.file.removesuffix(".pyi")
        local = {name for name, home in self.homes.items() if home == own}
        local |= set(self.table.files[self.file].get("typevars", ()))
        library, first, relative, aliases = {}, {}, {}, []
        for name in self.used - local:
            if name in RENAMED:
                module, real = RENAMED[name]
                aliases.append(f"from {module} import {real} as {name}")
            elif name in self.homes:
                relative.setdefault(f".{self.homes[name]}", []).append(name)
            elif name in LIBRARY:
                module = LIBRARY[name]
                group = first if module.startswith(("aerolane", "typing_extensions")) else library
                group.setdefault(module, []).append(name)
        lines = [f"import {name}" for name in ("asyncio", "builtins") if name in self.used]
        third = {module: names for module, names in first.items() if not module.startswith("aerolane")}
        ours = {module: names for module, names in first.items() if module.startswith("aerolane")}
        if self.table.files[self.file].get("reexports"):
            exported = {name: home for name, home in self.homes.items() if home != own and hasattr(compiled, name)}
            relative = {f".{home}": [] for home in exported.values()}
            for name, home in exported.items():
                relative[f".{home}"].append(name)
        for group in (library, third, ours, relative):
            if group and lines and group is not library:
                lines.append("")
            for module in sorted(group):
                names = sorted(group[module], key=constants_first)
                if group is relative and self.table.files[self.file].get("reexports"):
                    lines += [f"from {module} import {name} as {name}" for name in names]
                    continue
                one = f"from {module} import {', '.join(names)}"
                many = [f"from {module} import (", *(f"    {n}," for n in names), ")"]
                made = [(names[0], [one] if len(one) <= WIDTH else many)]
                made += [(alias.split()[3], [alias]) for alias in aliases if alias.startswith(f"from {module} ")]
                lines += [line for _, block in sorted(made) for line in block]
        return lines


def constants_first(name):
    """How the linter sorts names: constants, classes, and others."""
    return not name.isupper() or len(name) == 1, not name[0].isupper(), name.lower(), name


def rendered():
    """The stubs that are rendered, by file."""
    table = Table()
    places, where = Places(), homes(table)
    found = {file: Rendering(table, file, places, where).render() for file in table.files}
    if table.unused:
        unused = ", ".join(f"{given} ({file})" for file, given in sorted(table.unused))
        raise SystemExit(f"no argument needs these types: {unused}")
    return found
