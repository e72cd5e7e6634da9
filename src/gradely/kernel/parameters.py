"""Things defined by their parameters: measures and their parts.

They are like frozen dataclasses, compared and hashed by value, but made without generating code for each class: thirty
dataclasses would take longer to define than a small run takes to evaluate.
"""

from typing import Any, ClassVar, Self


class Parameter:
    """A parameter as a class declares it: its default and what it means."""

    def __init__(self, default: Any, doc: str) -> None:
        """Keep both."""
        self.default, self.doc = default, doc


def parameter(*, default: Any, doc: str) -> Any:
    """Declare a parameter."""
    return Parameter(default, doc)


class Parametric:
    """A value made of parameters. Subclasses declare them with parameter() and may check them in settle()."""

    parameters: ClassVar[dict[str, Parameter]] = {}
    """those of the class and of the classes it derives from, by name"""

    def __init_subclass__(cls) -> None:
        """Collect the parameters."""
        super().__init_subclass__()
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        cls.parameters = {}
        for base in reversed(cls.__bases__):
            cls.parameters |= getattr(base, "parameters", {})
        cls.parameters |= own

    def __init__(self, *values: Any, **given: Any) -> None:
        """Take parameters by name, or by position; the others have their defaults."""
        given |= dict(zip(self.parameters, values, strict=False))
        unknown = next((name for name in given if name not in self.parameters), None)
        if unknown is not None or len(values) > len(self.parameters):
            raise TypeError(
                f"{type(self).__name__} has no parameter {unknown or len(values)!r}, only {list(self.parameters)}"
            )
        for name, declared in self.parameters.items():
            self._set(name, given.get(name, declared.default))
        self.settle()

    def settle(self) -> None:
        """Bring parameters into one form; refuse those that make no sense."""

    def _set(self, name: str, value: Any) -> None:
        """Store a parameter, while the thing is being made."""
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse: it is a value."""
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

    def __repr__(self) -> str:
        """Show the parameters."""
        stated = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.parameters)
        return f"{type(self).__name__}({stated})"
