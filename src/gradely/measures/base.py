"""The base classes of measures. A measure is the sum of the contributions of its documents, divided by a norm."""

import inspect
import re
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from textwrap import dedent
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from gradely.errors import MeasureError, NotFinite
from gradely.kernel import by_place
from gradely.kernel.backend import divide, ignore_overflow, is_any, namespace, sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.parameters import POSITIVE, Named, Parameter, number, parameter, show, to_python
from gradely.kernel.ties import order_ties
from gradely.kernel.uncertain import Chances, UncertainBatch
from gradely.parallel import cores, on_threads
from gradely.relevance import Identity, Levels, Relevance, RelevanceLike, Shift, relevance_of
from gradely.tables import Table, box, formula, grid, heading, sentence

M = TypeVar("M")
NO_MEAN = "labels are probabilities, and no exact mean over them is known for this measure"
"""message of the errors about probabilistic labels that a measure does not support"""


class _MeasureType(ABCMeta):
    """The metaclass of measures, which makes `nDCG @ 10` work on the class itself."""

    def __matmul__(cls: type[M], k: Any) -> M:
        """Return the measure with a cut-off, as in nDCG @ 10."""
        measure: Any = cls()
        return measure @ k  # type: ignore[no-any-return]


class Measure(Named, metaclass=_MeasureType):
    """A measure of ranking quality: from a Batch to one number per query.

    Its fields are its parameters. The value is the sum of the contributions of the judged documents (`terms`), plus
    `start`, which is 0 for most measures, divided by `norm`.
    """

    takes_expected: ClassVar[bool] = True
    """False if no closed form of the mean over the orders of tied documents is known"""
    may_refuse: ClassVar[bool] = False
    """true if the measure refuses to compute that mean for tie groups with too many states"""
    takes_fixed: ClassVar[bool] = True
    """False if the formula depends on the lengths of tie groups, which compilers do not allow"""
    takes_fixed_order: ClassVar[bool] = True
    """False if the formula inspects values even if no documents tie"""
    needs_subtopics: ClassVar[bool] = False
    """true if the measure needs labels by subtopic; other measures use the highest label of each document"""
    may_be_bounded: ClassVar[bool] = False
    """true if the best and worst values may be bounds that contain every order instead of the values of an order"""
    may_lack: ClassVar[str] = ""
    """what a query with relevant documents may lack, in which case every ranking scores 0; see `lacks`"""
    has_ceiling: ClassVar[bool] = False
    """true if no ranking of some queries can reach 1"""
    needs_relevant: ClassVar[bool] = True
    """False if the measure is meaningful for queries without relevant documents"""
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """the lowest and the highest possible value"""
    expectation: ClassVar["Callable[[Any, UncertainBatch], Expected] | None"] = None
    """computes the mean over probabilistic labels; not inherited, since a formula that is right for a measure may be
    wrong for its subclasses"""
    k: int | None = parameter(default=None, doc="cut-off: only the top k documents count", kw_only=False)

    def __matmul__(self, k: Any) -> Self:
        """Return the measure with a cut-off, as in nDCG(gain="exp") @ 10."""
        if self.k is not None:
            raise MeasureError(f"{self} already has a cut-off, so it cannot have the cut-off {k!r}")
        return self.replace(k=k)

    def __call__(self, batch: Batch) -> Array:
        """Return the value of each query of the batch."""
        values: list[Array] = []
        try:
            values.extend(on_threads(self.fit(batch.levels).compute, batch.parts, cores()))
        except NotFinite as error:
            row = error.row + sum(int(part.shape[0]) for part in values)
            raise NotFinite(error.measure, row, error.label) from None
        return values[0] if len(values) == 1 else batch.xp.concat(values)

    @property
    def of(self) -> Callable[..., Array]:
        """The measure as a pure function of (scores, labels, mask=None), for jax.jit and torch.compile.

        It returns one value per row, or one number for one-dimensional arrays, in the precision of the scores. NaN and
        infinity raise an error, in the arguments and in the result, unless the function is traced or called with
        check=False. `as_function` computes several measures with one sort, and supports measures that need the levels
        of the collection.
        """
        from gradely.measures.function import ValueFunction

        return ValueFunction(self)

    def compute(self, batch: Batch) -> Array:
        """Return the value of each query. The measure must have been fitted to the collection."""
        return self.compute_from_relevance(self.apply_relevance(batch))

    def compute_from_relevance(self, batch: Batch) -> Array:
        """Return the value of each query of a batch that holds relevance instead of labels."""
        with ignore_overflow():
            values = divide(*self.sums(batch))
        if not batch.fixed:
            check_finite(self, values, lambda row: batch.pool[row, 0])
        return values

    def sums(self, batch: Batch) -> tuple[Array, Array]:
        """Return [Q] twice, for a batch with relevance: the sum that the value is, and the norm that divides it."""
        parts = self.parts(batch)
        return parts.total(sum_rows(parts.terms)), parts.norm

    def parts(self, batch: Batch) -> "Parts":
        """Return the terms, norm and start of a batch that holds relevance instead of labels."""
        batch = self.order_ties(batch.top(self.k))
        return Parts(self.start(batch), self.terms(batch), self.norm(batch))

    def expect(self, batch: UncertainBatch) -> "Expected":
        """Return the parts of the mean over all labels, for documents with probabilistic labels."""
        self.check_expectation()
        with ignore_overflow():
            return vars(type(self))["expectation"](self, batch)  # type: ignore[no-any-return]

    @property
    def takes_chances(self) -> bool:
        """True if the exact mean over probabilistic labels is known for this very class."""
        return vars(type(self)).get("expectation") is not None

    def check_expectation(self) -> None:
        """Raise MeasureError if no formula of the mean over probabilistic labels is known."""
        if not self.takes_chances:
            raise MeasureError(f"{self}: {NO_MEAN}; docs/guides/probabilities.md lists the measures that have one")

    def order_ties(self, batch: Batch) -> Batch:
        """Return the batch with its ties ordered by its policy.

        Raise MeasureError if the policy is `expected` and no formula of the mean over orders is known.
        """
        if batch.untied:
            return batch
        if batch.ties != "expected":
            key = self.priority_key
            if key not in batch.orders:
                batch.orders[key] = order_ties(batch, self.priority)
            return batch.orders[key]
        if not self.takes_expected:
            raise MeasureError(
                f"{self}: the mean over all orders of tied documents has no closed form; "
                "ties='sampled' estimates it, and best, worst, trec, order and random take one order"
            )
        return batch

    def fit(self, levels: Levels) -> Self:  # noqa: ARG002 - used by subclasses
        """Return the measure fitted to the collection; raise an error if it does not support the labels."""
        return self

    def is_fixed(self, ties: str = "expected") -> bool:
        """True if the formula depends on shapes alone, as compilers require; without ties, most formulas do."""
        return self.takes_fixed_order if ties in ("order", "random") else self.takes_expected and self.takes_fixed

    def apply_relevance(self, batch: Batch) -> Batch:
        """Return the batch with relevance instead of labels. The methods below take this batch."""
        return batch

    @abstractmethod
    def terms(self, batch: Batch) -> Array:
        """Return [Q, H]: the contribution of each judged document, before the division by the norm."""

    def factors(self, batch: Batch) -> tuple[Array, Array] | None:  # noqa: ARG002 - used by subclasses
        """Return gains and inverse discounts, [Q, H] each, if `terms` is their product, else None."""
        return None

    def start(self, batch: Batch) -> Array | None:  # noqa: ARG002 - used by subclasses
        """Return [Q]: the contribution of everything but the judged documents, or None if there is none."""
        return None

    def norm(self, batch: Batch) -> Array:
        """Return [Q]: the divisor of the sum, 1 by default. If it is 0, the value is 0."""
        return batch.constant(1.0)

    @abstractmethod
    def priority(self, batch: Batch) -> Array:
        """Return [Q, H]: priorities of documents; the best order ranks the highest first. Unjudged documents have 0."""

    def ideal_priority(self, batch: Batch) -> Array:
        """Return [Q, H]: the priorities by which the ideal ranking sorts a whole pool, by default those of ties."""
        return self.priority(batch)

    @property
    def priority_key(self) -> object:
        """What the priority depends on besides the batch; measures with the same key share an order of ties."""
        return self.key

    def is_bounded(self, batch: Batch) -> Array:
        """Return [Q, H]: true for documents of tie groups whose best and worst values are only bounds."""
        return batch.xp.zeros_like(batch.judged)

    def ceiling(self, batch: Batch) -> Array:
        """Return [Q]: the highest value that a ranking of the query can have, for measures with `has_ceiling`."""
        return batch.constant(1.0)

    def lacks(self, batch: Batch) -> Array:
        """Return [Q]: true if the query has relevant documents but lacks what `may_lack` names."""
        return batch.xp.zeros_like(batch.pooled[:, 0])

    @abstractmethod
    def degenerate(self, batch: Batch) -> Array:
        """Return [Q]: true if no document of the pool contributes anything, in which case every ranking scores 0."""

    def _repr_html_(self) -> str:
        """Return the card that a notebook shows: formula, parameters, ties, reference."""
        return card(self)


class Parts(NamedTuple):
    """The parts of a value: the start of the sum, the contribution of each document, and the divisor."""

    start: Array | None
    terms: Array
    norm: Array

    def total(self, added: Array) -> Array:
        """Return [Q]: the whole sum, given the sum over documents."""
        return added if self.start is None else self.start + added


class Expected(NamedTuple):
    """The parts of the mean of a measure over probabilistic labels."""

    gain: Array
    """[Q, H] the mean gain of each document, or the probability that it is relevant"""
    terms: Array
    """[Q, H] the contribution of each document"""
    norm: Array | None = None
    """[Q] the divisor of the sum if it does not depend on labels, else None"""
    start: Array | None = None
    """[Q] the start of the sum, or None for 0"""

    def values(self) -> Array:
        """Return [Q]: the value of each query."""
        added = sum_rows(self.terms) if self.start is None else self.start + sum_rows(self.terms)
        return added + 0.0 if self.norm is None else divide(added, self.norm)

    def checked(self, measure: Measure, batch: UncertainBatch) -> Array:
        """Return the values; raise NotFinite if one is too large to represent."""
        values = self.values()
        check_finite(measure, values, lambda _: batch.labels[-1])
        return values


def check_finite(measure: Measure, values: Array, highest: Callable[[int], Array]) -> None:
    """Raise NotFinite if a value is too large to represent; `highest` returns the highest label of a row."""
    xp = namespace(values)
    finite = xp.isfinite(values)
    if not bool(xp.all(finite)):
        row = int(xp.argmin(xp.astype(finite, xp.int8)))
        raise NotFinite(str(measure), row, float(highest(row)))


def parameters(measure: type[Measure]) -> dict[str, Parameter]:
    """Return the parameters of a measure by name, the cut-off last."""
    rest = {name: declared for name, declared in measure.parameters.items() if name != "k"}
    return rest | {"k": measure.parameters["k"]}


THRESHOLD = number("the lowest label that counts as relevant")


class Binary(Measure):
    """A measure of binary relevance: a document is relevant if its label is at least `rel`."""

    rel: float = parameter(default=1, doc="labels of at least this count as relevant", check=THRESHOLD)

    def relevant(self, batch: Batch) -> Array:
        """Return [Q, H]: true for relevant documents."""
        key, memo = (Binary, self.rel), batch.memo
        if key not in memo:
            relevant = batch.grade >= self.rel
            memo[key] = batch.judged & relevant if batch.padded else relevant
        return memo[key]

    def recall_base(self, batch: Batch) -> Array:
        """Return [Q]: RB, the number of relevant documents of the pool. By place, the whole pool is retrieved."""
        if batch.by_place:
            return by_place.total(batch, self.relevant(batch))
        return batch.of_pools(
            (Binary, self.rel),
            lambda pools: pools.xp.sum(pools.to_real(pools.pooled & (pools.pool >= self.rel)), axis=1),
        )

    def with_recall_base(self, batch: Batch, base: Array) -> Batch:
        """Return the batch as if its pools had the given numbers of relevant documents, [Q]."""
        batch.set_cached(pool_memo={(Binary, self.rel): base})
        return batch

    def chances(self, batch: UncertainBatch) -> Chances:
        """Return the probability that each document is relevant."""
        return Chances.of(batch, batch.labels >= self.rel)

    def priority(self, batch: Batch) -> Array:
        """Rank relevant documents before others."""
        return batch.to_real(self.relevant(batch))

    @property
    def priority_key(self) -> object:
        """The threshold, unless the measure has a priority of its own."""
        return (Binary, self.rel) if type(self).priority is Binary.priority else self.key

    def degenerate(self, batch: Batch) -> Array:
        """True if the pool has no relevant document, i.e. if its best document is not relevant."""
        return ~(batch.pooled[:, 0] & (batch.pool[:, 0] >= self.rel))


IDENTITY = Identity()
"""the default relevance function"""


class Graded(Measure):
    """A measure of graded relevance."""

    relevance: RelevanceLike | None = parameter(
        default=IDENTITY,
        doc="how labels become relevance: 'identity', 'shift', shift(1), 'max', max(4), 'phi' or a table",
    )

    def check_parameters(self) -> None:
        """Determine the relevance function; a shift is applied before the measure's own and does not replace it."""
        super().check_parameters()
        if self.relevance is None:
            return
        function, own = relevance_of(self.relevance), self.parameters["relevance"].default
        if isinstance(function, Shift) and function.then == IDENTITY and own is not None:
            function = function.replace(then=own)
        self._set("relevance", function)

    @property
    def relevance_function(self) -> Relevance:
        """The relevance function."""
        function: Any = self.relevance or IDENTITY
        return function  # type: ignore[no-any-return]

    def fit(self, levels: Levels) -> Self:
        """Determine the relevance function; raise an error if it does not support the labels."""
        if isinstance(self.relevance_function, Identity):
            return self
        fitted = self.relevance_function.fit(levels)
        return self if fitted == self.relevance_function else self.replace(relevance=fitted)

    def apply_relevance(self, batch: Batch) -> Batch:
        """Return the batch with relevance, clipped at 0, instead of labels; measures with the same relevance share it.

        If relevance equals the labels and no label is negative, the batch itself is returned.
        """
        function = self.relevance_function
        if isinstance(function, Identity) and not batch.fixed:
            has_negative = batch.of_pools(Graded, lambda pools: is_any(pools.pool < 0))
            if not has_negative:
                return batch
        if function.key not in batch.by_relevance:
            batch.by_relevance[function.key] = self._with_relevance(batch)
        return batch.by_relevance[function.key]

    def check_expectation(self) -> None:
        """Raise MeasureError if the relevance of a label depends on the other labels of the query."""
        super().check_expectation()
        if not self.relevance_function.by_label:
            raise MeasureError(
                f"{self}: {NO_MEAN}, since relevance depends on the other labels of the query; use a relevance "
                "function of the label alone, such as max(4)"
            )

    def relevance_of_labels(self, batch: UncertainBatch) -> Batch:
        """Return a batch of one query, [1, L]: the relevance of each label."""
        return self.apply_relevance(batch.by_label)

    def _with_relevance(self, batch: Batch) -> Batch:
        with ignore_overflow():
            batch = self.relevance_function(batch)
        return batch.relabel(
            _positive(batch, batch.grade, batch.judged), _positive(batch, batch.pool, batch.pooled), batch.pooled
        )

    def priority(self, batch: Batch) -> Array:
        """Rank documents by relevance."""
        return batch.grade

    @property
    def priority_key(self) -> object:
        """Relevance alone, unless the measure has a priority of its own."""
        return Graded if type(self).priority is Graded.priority else self.key

    def degenerate(self, batch: Batch) -> Array:
        """True if no document of the pool has positive relevance, i.e. if its best document has none."""
        return batch.pool[:, 0] <= 0


def _positive(batch: Batch, values: Array, real: Array) -> Array:
    if not batch.padded:
        return batch.xp.clip(values, min=0.0)
    return batch.xp.where(real & (values > 0), values, 0.0)


class ScaleBased(Graded):
    """A graded measure that needs the top of the scale."""

    top: float | None = parameter(
        default=None,
        doc="the highest relevance of the scale; by default that of the collection",
        check=number("the highest relevance of the scale", POSITIVE),
    )

    def fit(self, levels: Levels) -> Self:
        """Take the top from the collection unless it is given; raise an error if relevance exceeds it."""
        fitted = super().fit(levels)
        highest = fitted.relevance_function.top(levels)
        if self.top is None:
            return fitted.replace(top=highest or 1)
        if highest > self.top:
            raise MeasureError(
                f"{self}: the collection has relevance above top={self.top}; use top={to_python(highest)}"
            )
        return fitted


class BinaryOrGraded(Binary, Graded):
    """A measure that is binary by default, and graded if a relevance function is given."""

    relevance: RelevanceLike | None = parameter(
        default=None,
        doc="graded: how labels become relevance: 'identity', 'shift', shift(1), 'max', max(4), 'phi' or a table",
    )

    def check_parameters(self) -> None:
        """Raise MeasureError if both a threshold and a relevance function are given."""
        super().check_parameters()
        if self.relevance is not None and self.rel != 1:
            raise MeasureError(f"{self.name} takes either rel (binary) or relevance (graded), not both")

    def fit(self, levels: Levels) -> Self:
        """Determine the relevance function, if there is one."""
        return self if self.relevance is None else super().fit(levels)

    def apply_relevance(self, batch: Batch) -> Batch:
        """Return the batch with relevance instead of labels if the measure is graded."""
        return batch if self.relevance is None else super().apply_relevance(batch)

    def worth(self, batch: Batch) -> Array:
        """Return [Q, H]: 1 for relevant documents; if graded, relevance over the top of the scale, if there is one."""
        if self.relevance is None:
            return batch.to_real(self.relevant(batch))
        return batch.grade / float(getattr(self, "top", None) or 1)

    def priority(self, batch: Batch) -> Array:
        """Rank documents by relevance."""
        return self.worth(batch)

    def degenerate(self, batch: Batch) -> Array:
        """True if the pool has no relevant document or, if graded, none of positive relevance."""
        return (Binary if self.relevance is None else Graded).degenerate(self, batch)


def card(measure: Measure) -> str:
    """Return the documentation of a measure and the values of its parameters as HTML."""
    text = inspect.getdoc(measure) or ""
    parts = [part for part in re.split("\n\n|\n(?=Reference:)", text) if not part.startswith(">>>")]
    body = [formula(dedent(part)) if part.startswith(" ") else sentence(" ".join(part.split())) for part in parts]
    rows = [
        [name, "all" if name == "k" and measure.k is None else show(getattr(measure, name)), declared.doc]
        for name, declared in parameters(type(measure)).items()
    ]
    table = grid(Table(["parameter", "value", "meaning"], rows))
    return box(heading(str(measure)), *body, table)
