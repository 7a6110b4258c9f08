"""The tables of what compiled classes cannot say of themselves (`stubs/*.toml`), put beside these classes."""

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
            "classmethod": "classmethod",
            "getset_descriptor": "property",
            "member_descriptor": "property",
            "property": "property",
        }.get(type(static).__name__, "")
        if not self.kind and not callable(static):
            self.kind, self.doc, self.signature = "constant", None, None
            return
        self.doc = docstring(static if self.kind == "property" else getattr(owner, name))
        # The constructor's signature is that of the class.
        shown = owner if name == "__new__" else getattr(owner, name)
        try:
            self.signature = None if self.kind == "property" else inspect.signature(shown)
        except ValueError:
            # A method of a type that is made of raw slots: the table has to say it.
            self.signature = None

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


def exceptions(entry, described):
    """The entries that one stands for: itself, or one for each exception of the module that has none, in its order."""
    if "exceptions" not in entry:
        return [entry]
    found = [
        one
        for one in vars(compiled).values()
        if inspect.isclass(one) and issubclass(one, BaseException) and one.__name__ not in described
    ]
    unknown = set(entry["exceptions"]) - {one.__name__ for one in found}
    if unknown:
        raise SystemExit(f"no such exceptions: {', '.join(sorted(unknown))}")

    def shown(base):
        own = getattr(compiled, base.__name__, None) is base
        return base.__name__ if own or not hasattr(compiled, base.__name__) else f"builtins.{base.__name__}"

    return [
        {
            "name": one.__name__,
            "bases": ", ".join(map(shown, one.__bases__)),
            "decorators": [],
            **entry["exceptions"].get(one.__name__, {}),
        }
        for one in found
    ]


def attributes(own):
    """The names of what a class has itself, or from bases of ours that the module does not show."""
    hidden = [
        base for base in own.__mro__ if base.__module__.startswith("aerolane") and base.__name__ not in vars(compiled)
    ]
    return dict.fromkeys(name for one in [own, *hidden] for name in vars(one))


class Table:
    """The tables, and which member each of their classes shows."""

    def __init__(self):
        self.files, self.classes, self.unused = {}, {}, set()
        tables = {path: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(TABLES.glob("*.toml"))}
        contents = [content for table in tables.values() for file, content in table.items() if file != "types"]
        described = {entry.get("name") for content in contents for entry in content["class"]}
        for path, table in tables.items():
            types = table.pop("types", {})
            self.unused |= {(path.name, given) for given in types}
            self.files |= table
            for content in table.values():
                content["class"] = [one for entry in content["class"] for one in exceptions(entry, described)]
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
        """What a class shows as its bases do, although it says something else of it."""
        return {
            member for one in [name, *self.ancestors(name)] for member in self.classes[one].get("inherits", "").split()
        }

    def place(self):
        """Gives each member of each compiled class to the class of the table that shows it."""
        owners, heirs, inherited = {}, {}, {}
        for name in self.classes:
            if not hasattr(compiled, name) or issubclass(getattr(compiled, name), enum.Enum):
                continue
            for base in self.ancestors(name):
                heirs.setdefault(base, []).append(name)
            own, inherited[name] = getattr(compiled, name), self.inherited(name)
            for member in attributes(own):
                said = member in self.classes[name].get("signatures", ())
                said = said or (member == "__new__" and own.__text_signature__ is not None)
                if member in inherited[name] or (member.startswith("_") and not said):
                    continue
                one = Member(own, member)
                owners.setdefault(one.identity, (one, []))[1].append(name)
        for member, names in owners.values():
            left = set(names)
            # First the classes that name it, then those that most of its owners share.
            showing = {base: {heir for heir in heirs[base] if member.name not in inherited[heir]} for base in heirs}
            candidates = [
                base for base in heirs if showing[base] and showing[base] <= left and self.returns(base, member.name)
            ]
            candidates.sort(key=lambda base: (not self.mentions(base, member.name), -len(heirs[base])))
            for base in candidates:
                if showing[base] <= left and not any(self.mentions(heir, member.name) for heir in showing[base]):
                    self.members[base].append(member)
                    left -= showing[base]
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


def homes(table):
    """The stub that defines each name."""
    found = {}
    for file, content in table.files.items():
        stem = file.removesuffix(".pyi")
        for entry in content["class"]:
            if "name" in entry:
                found[entry["name"]] = stem
            for line in entry.get("text", "").splitlines():
                if match := re.match(r"(?:class |def )?(\w+)", line):
                    found[match[1]] = stem
    return found
