"""The base of results that consist of records, shown as one or more tables."""

from typing import Any

from gradely.evaluation.result import Result, Section
from gradely.tables import Cell, Table


class Records(Result):
    """A result with `records`, one per observation, `tables` to read, and a `summary` that describes them."""

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per observation."""
        raise NotImplementedError

    def tables(self) -> list[Table]:
        """Return the tables to read, the most important one first."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return a description of the numbers in one or more lines."""
        raise NotImplementedError

    def table(self) -> Table:
        """Return the first of the tables."""
        return self.tables()[0]

    def data_table(self) -> Table:
        """Return one row per record."""
        return Table.of(self.records())

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the tables."""
        return [*self.tables()]

    def remarks(self) -> list[str]:
        """Return the lines of the summary."""
        return self.summary().splitlines()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        return {"about": self.summary(), "values": self.records(), "notes": self._list_notes()}
