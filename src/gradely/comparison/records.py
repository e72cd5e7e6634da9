"""Results that are records for programs, and several tables made of them for people."""

from typing import Any

from gradely.evaluation.result import Result, Section
from gradely.tables import Cell, Table


class Records(Result):
    """A result that has `records`, one per observation, `tables` for people, and a `summary` of what they are of."""

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per observation."""
        raise NotImplementedError

    def tables(self, digits: int = 4) -> list[Table]:
        """Return the tables that people look at, the most important one first."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return what the numbers are of, in a line or more."""
        raise NotImplementedError

    def table(self) -> Table:
        """Return the first of the tables."""
        return self.tables(self.digits)[0]

    def data_table(self) -> Table:
        """Return one row per record."""
        return Table.of(self.records())

    def sections(self, digits: int) -> list[Section]:
        """Return the tables."""
        return [*self.tables(digits)]

    def remarks(self) -> list[str]:
        """Return what the numbers are of."""
        return self.summary().splitlines()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        return {"about": self.summary(), "values": self.records(), "notes": self._list_notes()}
