"""The tables of what compiled classes cannot say of themselves (`stubs/*.toml`), put beside these classes."""

import ast
import enum
import fnmatch
import inspect
import pathlib
import re
import tomllib

from stub_text import docstring

import aerolane._aerolane as compiled

ROOT = pathlib.Path(__file__).parents[2]
STUBS = ROOT / "python" / "aerolane" / "_aerolane"
TABLES = ROOT / "crates" / "py-bindings" / "stubs"
SOURCES = ROOT / "crates" / "py-bindings" / "src"
SPECIAL = re.compile(r"__\w+__")


class Member:
    """A method, a property or a constant of a compiled class, as it is rendered."""

    def __init__(self, owner, name):
        static = inspect.getattr_static(owner, name)
        self.name = name
        self.kind = {
            "staticmethod": "staticmethod",
            "classmethod_descriptor": "classmethod",
            "getset_descriptor": "property",
        }.get(type(static).__name__, "")
        if not self.kind and not callable(static):
            self.kind, self.doc, self.signature = "constant", None, None
            return
        self.doc = docstring(static if self.kind == "property" else getattr(owner, name))
        # The constructor's signature is that of the class.
        shown = owner if name == "__new__" else getattr(owner, name)
        self.signature = None if self.kind == "property" else inspect.signature(shown)

    @property
    def identity(self):
        """What two classes agree about that share it."""
        return self.name, self.kind, str(self.signature), self.doc


class Places:
    """The order of methods: that in which the file of their class defines methods of their names, or, of those that it
    does not have, any other file.

    In a compiled class, blocks of methods are in the order in which they were linked.
    """

    CLASS = re.compile(r"\bstruct (\w+)")

    DEFINITION = re.compile(r"///[^\n]*\n\s*(?:#\[.*?\]\n\s*)*(?:pub(?:\([^)]*\))? )?(?:fn )?(?:r#)?(\w+)", re.DOTALL)

    def __init__(self):
        self.found, self.classes = {}, {}
        # The tables of steps before what refers to them.
        sources = sorted(SOURCES.rglob("*.rs"), key=lambda path: ("steps" not in path.parts, path))
        for number, source in enumerate(sources):
            text, here = source.read_text(encoding="utf-8"), {}
            for match in self.DEFINITION.finditer(text):
                here.setdefault(match[1], match.start())
                self.found.setdefault(match[1], (number, match.start()))
            for match in self.CLASS.finditer(text):
                self.classes.setdefault(match[1], here)

    def __call__(self, owner, member):
        place = self.classes.get(owner, {}).get(member.name)
        elsewhere = self.found.get(member.name, (1 << 30, 0)) if place is None else ()
        return place is None, place or 0, elsewhere, member.name


class Table:
    """The tables, and which member each of their classes shows."""

    def __init__(self):
        self.files, self.classes, self.unused = {}, {}, set()
        for path in sorted(TABLES.glob("*.toml")):
            table = tomllib.loads(path.read_text(encoding="utf-8"))
            types = table.pop("types", {})
            self.unused |= {(path.name, given) for given in types}
            self.files |= table
            for content in table.values():
                for entry in content["class"]:
                    if "name" in entry:
                        entry["table"], entry["types of all"] = path.name, types
                        self.classes[entry["name"]] = entry
        self.members = {name: [] for name in self.classes}
        self.place()

    def bases(self, name):
        return re.findall(r"\w+", re.sub(r"\[[^]]*\]", "", self.classes[name].get("bases", "")))

    def ancestors(self, name):
        """The bases of a class that only stubs have, and theirs."""
        found = []
        for base in self.bases(name):
            if base in self.classes and not hasattr(compiled, base):
                found += [base, *self.ancestors(base)]
        return found

    def inherited(self, name):
        """What a class has from bases that stubs outside of the table define."""
        outside = {base for one in [name, *self.ancestors(name)] for base in self.bases(one)}
        return {member for base in outside - set(self.classes) for member in handwritten().get(base, ())}

    def place(self):
        """Gives each member of each compiled class to the class of the table that shows it."""
        owners, heirs = {}, {}
        for name in self.classes:
            if not hasattr(compiled, name) or issubclass(getattr(compiled, name), enum.Enum):
                continue
            for base in self.ancestors(name):
                heirs.setdefault(base, []).append(name)
            own, inherited = getattr(compiled, name), self.inherited(name)
            for member in own.__dict__:
                said = member in self.classes[name].get("signatures", ())
                said = said or (member == "__new__" and own.__text_signature__ is not None)
                if member in inherited or (member.startswith("_") and not said):
                    continue
                one = Member(own, member)
                owners.setdefault(one.identity, (one, []))[1].append(name)
        for member, names in owners.values():
            left = set(names)
            # First the classes that name it, then those that most of its owners share.
            candidates = [base for base in heirs if set(heirs[base]) <= left and self.returns(base, member.name)]
            candidates.sort(key=lambda base: (not self.mentions(base, member.name), -len(heirs[base])))
            for base in candidates:
                if set(heirs[base]) <= left and not any(self.mentions(heir, member.name) for heir in heirs[base]):
                    self.members[base].append(member)
                    left -= set(heirs[base])
            for name in sorted(left):
                self.members[name].append(member)

    def mentions(self, name, member):
        """Whether a class says something of this member, and not just of all that it has."""
        entry = self.classes[name]
        returns = entry.get("returns", {})
        return member in entry.get("signatures", ()) or (
            isinstance(returns, dict) and self.returns(name, member) != returns.get("*")
        )

    def is_attribute(self, name, member):
        """Whether a property can be set, as the table says: it is shown as an attribute."""
        patterns = self.classes[name].get("attributes", "").split()
        return any(fnmatch.fnmatchcase(member, pattern) for pattern in patterns)

    def returns(self, name, member):
        """What a member of a class gives; `None`: the class has no such member."""
        returns = self.classes[name].get("returns", {})
        if member in self.classes[name].get("signatures", ()):
            return "as its signatures say"
        if isinstance(returns, str):
            return returns
        for several, given in returns.items():
            if any(fnmatch.fnmatchcase(member, pattern) for pattern in several.split()):
                return given
        return None

    def type(self, name, method, argument):
        """The type of an argument: what the class says goes before what holds for all, and a method before a name."""
        place, entry = f"{method}.{argument}", self.classes[name]
        for types in (entry.get("types", {}), entry["types of all"]):
            for given in (place, *(key for key in types if "." in key and fnmatch.fnmatchcase(place, key)), argument):
                if given in types:
                    if types is entry["types of all"]:
                        self.unused.discard((entry["table"], given))
                    return types[given]
        return None


def handwritten():
    """The members of the classes of stubs, by class."""
    if not hasattr(handwritten, "found"):
        found = {}
        for stub in sorted(STUBS.glob("*.pyi")):
            for node in ast.parse(stub.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    members = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
                    for base in node.bases:
                        members |= found.get(getattr(getattr(base, "value", base), "id", None), set())
                    found[node.name] = members
        handwritten.found = found
    return handwritten.found


def homes(table):
    """The stub that defines each name."""
    found = {}
    for stub in sorted(STUBS.glob("_[a-z]*.pyi")):
        if stub.name not in table.files:
            for node in ast.parse(stub.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef):
                    found[node.name] = stub.stem
                elif isinstance(node, ast.AnnAssign | ast.Assign):
                    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                    found[target.id] = stub.stem
    for file, content in table.files.items():
        stem = file.removesuffix(".pyi")
        for entry in content["class"]:
            if "name" in entry:
                found[entry["name"]] = stem
            for line in entry.get("text", "").splitlines():
                if match := re.match(r"(?:class |def )?(\w+)", line):
                    found[match[1]] = stem
    return found
