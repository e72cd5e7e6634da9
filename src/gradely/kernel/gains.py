"""From relevance, which is never below 0, to gains, and from ranks to discounts: the parts of the graded measures."""

import math
from inspect import Parameter as Argument
from inspect import Signature, get_annotations
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self, dataclass_transform

from gradely.errors import MeasureError, did_you_mean
from gradely.kernel.backend import is_any
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import rank_discount
from gradely.kernel.ties import Discount
from gradely.lazy import lazy


class Table(NamedTuple):
    """Values of one's own, label by label; a label of 0 or less that is not listed is worth 0."""

    values: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, table: dict[float, float]) -> "Table":
        """Make a table from {label: value}."""
        for label, value in table.items():
            if not is_number(label) or not is_number(value) or value < 0:
                entry = f"{label!r}: {value!r}"
                raise MeasureError(f"a table maps labels to numbers of at least 0, like {{1: 1, 2: 3}}; found {entry}")
        return cls(tuple(sorted((to_python(label), to_python(value)) for label, value in table.items())))

    def __call__(self, batch: Batch, labels: Array, exponent: Array | None = None) -> Array:
        """Return the value of each label, in units of 2^exponent."""
        out = batch.xp.zeros_like(labels)
        for label, value in self.values:
            out = batch.xp.where(labels == label, float(value), out)
        return linear(batch, out, exponent)

    def check(self, levels: Array) -> None:
        """Raise unless every positive label of the collection is listed."""
        listed = {float(label) for label, _ in self.values}
        missing = next((level for level in map(float, levels) if level not in listed), None)
        if missing is not None:
            raise MeasureError(f"the table {self} has no value for the label {missing:g}; add one")

    @property
    def top(self) -> float:
        """The highest value."""
        return max((value for _, value in self.values), default=0.0)

    def __str__(self) -> str:
        """Print as {label: value}, which reads back."""
        return repr(dict(self.values))


def is_number(x: Any) -> bool:
    """True for a finite number that is not a truth value; a whole number may be too large to be a finite one."""
    try:
        return isinstance(x, Real) and not isinstance(x, bool) and math.isfinite(x)
    except OverflowError:
        return False


def to_python(x: Any) -> float:
    """Return a number as Python's own, whole ones as int, so that it prints short and reads back the same."""
    number = float(x)
    return int(number) if number.is_integer() else number


def headroom(batch: Batch) -> float:
    """Return half the powers of two that the batch's numbers can hold, 512 for doubles.

    Gains up to 2^headroom can be summed and discounted without leaving the range of numbers.
    """
    return math.log2(batch.xp.finfo(batch.grade.dtype).max) / 2


def exponents(batch: Batch, power: Array) -> Array | None:
    """Return the units, 2^exponent, in which gains of up to 2^power, [Q, 1], have headroom; None where 1 does for all.

    Exponents are even numbers, so that units, and half of them, scale without rounding. Of fixed shapes nobody can ask,
    so these have exponents always, of 0 where 1 does.
    """
    over = power - headroom(batch)
    if not batch.fixed and not is_any(over > 0):
        return None
    return 2 * batch.xp.floor(batch.xp.clip(over, min=0.0) / 2)


def units(batch: Batch, exponent: Array) -> Array:
    """Return 1 in units of 2^exponent, which is 0 where it is too small to be told from it."""
    return batch.xp.pow(batch.xp.full_like(exponent, 2.0), -exponent)


def linear(batch: Batch, relevance: Array, exponent: Array | None = None) -> Array:
    """The relevance itself, in units of 2^exponent."""
    return relevance if exponent is None else relevance * units(batch, exponent)


def exp(batch: Batch, relevance: Array, exponent: Array | None = None) -> Array:
    """2^relevance - 1, in units of 2^exponent."""
    two = batch.xp.full_like(relevance, 2.0)
    if exponent is None:
        return batch.xp.pow(two, relevance) - 1.0
    return batch.xp.pow(two, relevance - exponent) - units(batch, exponent)


GAINS = {"linear": linear, "exp": exp}


def log2(batch: Batch, rank: Array) -> Array:
    """A gain is divided by the binary logarithm of rank + 1."""
    return batch.xp.log2(rank + 1.0)


def letor(batch: Batch, rank: Array) -> Array:
    """A gain at rank i is divided by log2(i), at ranks 1 and 2 by nothing (Järvelin and Kekäläinen 2002; LETOR)."""
    return batch.xp.log2(batch.xp.clip(rank, min=2.0))


def jk10(batch: Batch, rank: Array) -> Array:
    """A gain at rank i is divided by log10(i), at ranks 1 to 10 by nothing (Järvelin and Kekäläinen 2002; MATTERS)."""
    return batch.xp.log10(batch.xp.clip(rank, min=10.0))


DISCOUNTS: dict[str, Discount] = {"log2": log2, "zipf": rank_discount, "letor": letor, "jk10": jk10}


class Parameter:
    """A parameter as a class declares it: its default, what it means, and whether it must be named."""

    def __init__(self, default: Any, doc: str, *, kw_only: bool) -> None:
        """Keep all three."""
        self.default, self.doc, self.kw_only = default, doc, kw_only


def parameter(*, default: Any, doc: str, kw_only: bool = True) -> Any:
    """Declare a parameter; kw_only=False lets it be given by position, too."""
    return Parameter(default, doc, kw_only=kw_only)


class _Signature:
    """The signature of a class of parameters, for help(), notebooks and editors; made where it is asked for."""

    def __get__(self, instance: Any, owner: "type[Parametric]") -> Signature:
        """Return that of the class; what it makes has none."""
        if instance is not None:
            raise AttributeError("__signature__")
        return Signature(
            [
                Argument(
                    name,
                    Argument.KEYWORD_ONLY if declared.kw_only else Argument.POSITIONAL_OR_KEYWORD,
                    default=declared.default,
                    annotation=owner.annotation(name),
                )
                for name, declared in owner.parameters.items()
            ]
        )


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(parameter,))
class Parametric:
    """A value made of parameters. Subclasses declare them with parameter() and may check them in check_parameters()."""

    parameters: ClassVar[dict[str, Parameter]] = {}
    """those of the class and of the classes it derives from, by name"""
    __signature__ = _Signature()

    def __init_subclass__(cls) -> None:
        """Collect the parameters; refuse a field with a plain default, which would be none."""
        super().__init_subclass__()
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        for name, kind in get_annotations(cls).items():
            if name in vars(cls) and name not in own and getattr(kind, "__origin__", None) is not ClassVar:
                stated = f"parameter(default={vars(cls)[name]!r}, doc=…)"
                raise TypeError(f"{cls.__name__}.{name} is not a parameter yet: declare it with {stated}")
        cls.parameters = {}
        for base in reversed(cls.__bases__):
            cls.parameters |= getattr(base, "parameters", {})
        cls.parameters |= own

    def __init__(self, *values: Any, **keywords: Any) -> None:
        """Take parameters by name, or by position where they may be; the others have their defaults."""
        if values:
            keywords = self._by_position(values, keywords) | keywords
        if not keywords.keys() <= self.parameters.keys():
            self._refuse(next(name for name in keywords if name not in self.parameters))
        for name, declared in self.parameters.items():
            self._set(name, keywords.get(name, declared.default))
        self.check_parameters()

    @classmethod
    def annotation(cls, name: str) -> Any:
        """Return the type that a parameter was declared with, the last time it was."""
        return next(types[name] for types in map(get_annotations, cls.__mro__) if name in types)

    @classmethod
    def _by_position(cls, values: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that were given by position; refuse too many, and those that are also named."""
        names = [name for name, declared in cls.parameters.items() if not declared.kw_only]
        if len(values) > len(names):
            rest = ", ".join(f"{name}=…" for name in cls.parameters if name not in names)
            only = f"only {' and '.join(names)} by position" if names else "no parameter by position"
            named = f"; name the others: {rest}" if rest else ""
            raise TypeError(f"{cls.__name__} takes {only}, but was given {len(values)}{named}")
        by_position = dict(zip(names, values, strict=False))
        twice = next((name for name in by_position if name in keywords), None)
        if twice is not None:
            ways = f"{by_position[twice]!r} by position and {keywords[twice]!r} by name"
            raise TypeError(f"{cls.__name__} was given {twice} twice, {ways}: give it once")
        return by_position

    @classmethod
    def _refuse(cls, unknown: str) -> None:
        listing = f"only {', '.join(cls.parameters)}" if cls.parameters else "and takes none"
        raise TypeError(
            f"{cls.__name__} has no parameter {unknown!r}, {listing}.{did_you_mean(unknown, cls.parameters)}"
        )

    def check_parameters(self) -> None:
        """Bring parameters into one form; refuse those that make no sense."""

    def _set(self, name: str, value: Any) -> None:
        """Store a parameter, while the thing is being made."""
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse to change a parameter: the object is a value."""
        raise AttributeError(f"{type(self).__name__} cannot be changed: make another with replace({name}=…)")

    def _values(self) -> tuple[Any, ...]:
        """Return the values of all parameters."""
        return tuple(getattr(self, name) for name in self.parameters)

    def replace(self, **changes: Any) -> Self:
        """Return the same thing with some parameters changed."""
        return type(self)(**(dict(zip(self.parameters, self._values(), strict=True)) | changes))

    def __eq__(self, other: object) -> bool:
        """Compare by value."""
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        """Hash by value."""
        return hash((type(self), self._values()))

    @lazy
    def key(self) -> tuple[type, str]:
        """What it is known by where things are kept: the same for equal ones, and hashed without looking at them."""
        return type(self), repr(self)

    def __repr__(self) -> str:
        """Show the parameters."""
        stated = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.parameters)
        return f"{type(self).__name__}({stated})"
