"""What a measure is: the sum of what each document adds, divided by a norm."""

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
NO_MEAN = "labels are probabilities, and no exact mean over them is known of this measure"
"""what errors say of labels that a measure does not take"""


class _MeasureType(ABCMeta):
    """What a class of measures can do itself: take a cut-off."""

    def __matmul__(cls: type[M], k: Any) -> M:
        """Return the measure with a cut-off, as in nDCG @ 10."""
        measure: Any = cls()
        return measure @ k  # type: ignore[no-any-return]


class Measure(Named, metaclass=_MeasureType):
    """A measure of ranking quality: from a Batch to one number per query.

    Its fields are its parameters. It is the sum of what each judged document adds (`terms`), from a `start` that is
    mostly 0, over a `norm`.
    """

    takes_expected: ClassVar[bool] = True
    """False where no closed form is known of the mean over the orders of tied documents"""
    may_refuse: ClassVar[bool] = False
    """True where that mean is refused for tie groups with too many states"""
    takes_fixed: ClassVar[bool] = True
    """False where the formula needs to ask how long tie groups are, which compilers do not allow"""
    takes_fixed_order: ClassVar[bool] = True
    """False where it needs to ask something even if no documents tie"""
    needs_subtopics: ClassVar[bool] = False
    """True where documents must be judged by subtopic; others take the highest label that a document has"""
    may_be_bounded: ClassVar[bool] = False
    """True where best and worst may be bounds that contain every order, not those of an order"""
    may_lack: ClassVar[str] = ""
    """what a ranking with relevant documents may lack, so that it scores 0 however good it is; see `lacks`"""
    has_ceiling: ClassVar[bool] = False
    """True where some queries cannot reach 1, however good the ranking"""
    needs_relevant: ClassVar[bool] = True
    """False where it says something of every ranking, whether or not the query has relevant documents"""
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """the least and the greatest value there can be"""
    expectation: ClassVar["Callable[[Any, UncertainBatch], Expected] | None"] = None
    """how the mean over labels that are probabilities is taken; each class says it itself, and does not inherit it,
    since what holds of a measure need not hold of those that derive from it"""
    k: int | None = parameter(default=None, doc="cut-off: only the top k of the ranking count", kw_only=False)

    def __matmul__(self, k: Any) -> Self:
        """Return the measure with a cut-off, as in nDCG(gain="exp") @ 10."""
        if self.k is not None:
            raise MeasureError(f"{self} has a cut-off already; it cannot have the cut-off {k!r}, too")
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
        """The measure as a pure function of (scores, labels, mask=None), which jax.jit and torch.compile take.

        It gives one value per row, or one number for arrays of one dimension, in the precision of the scores. NaN and
        infinity are refused, also as a value, unless the function is traced or called with check=False. `as_function`
        serves several measures with one sort, and measures that need to know the levels of the collection.
        """
        from gradely.measures.function import ValueFunction

        return ValueFunction(self)

    def compute(self, batch: Batch) -> Array:
        """Return the value of each query; the measure has been fitted to the collection."""
        return self.compute_from_relevance(self.apply_relevance(batch))

    def compute_from_relevance(self, batch: Batch) -> Array:
        """Return the value of each query of a batch with relevance in place of labels."""
        with ignore_overflow():
            parts = self.parts(batch)
            values = divide(parts.total(sum_rows(parts.terms)), parts.norm)
        if not batch.fixed:
            check_finite(self, values, lambda row: batch.pool[row, 0])
        return values

    def parts(self, batch: Batch) -> "Parts":
        """Return what the value of each query of a batch with relevance is made of."""
        batch = self.order_ties(batch.top(self.k))
        return Parts(self.start(batch), self.terms(batch), self.norm(batch))

    def expect(self, batch: UncertainBatch) -> "Expected":
        """Return what the mean over all labels is made of, for documents whose labels are probabilities."""
        self.check_expectation()
        with ignore_overflow():
            return vars(type(self))["expectation"](self, batch)  # type: ignore[no-any-return]

    @property
    def takes_chances(self) -> bool:
        """True where the exact mean over labels that are probabilities is known, by which class it is."""
        return vars(type(self)).get("expectation") is not None

    def check_expectation(self) -> None:
        """Refuse labels that are probabilities where no formula is known of the mean over them."""
        if not self.takes_chances:
            raise MeasureError(f"{self}: {NO_MEAN}; docs/guides/probabilities.md lists the measures that have one")

    def order_ties(self, batch: Batch) -> Batch:
        """Return the batch with ties as its policy has them; refuse the mean over orders where there is no formula."""
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

    def fit(self, levels: Levels) -> Self:  # noqa: ARG002 - for those that need the collection
        """Return the measure fitted to the collection; refuse labels it cannot take."""
        return self

    def is_fixed(self, ties: str = "expected") -> bool:
        """True where the formula asks nothing but shapes, as compilers want it; without ties, most formulas do."""
        return self.takes_fixed_order if ties in ("order", "random") else self.takes_expected and self.takes_fixed

    def apply_relevance(self, batch: Batch) -> Batch:
        """Return the batch with relevance in place of labels; the methods below take this."""
        return batch

    @abstractmethod
    def terms(self, batch: Batch) -> Array:
        """Return [Q, H]: what each judged document adds, before the norm."""

    def factors(self, batch: Batch) -> tuple[Array, Array] | None:  # noqa: ARG002 - for those that have them
        """Return [Q, H] twice, gains and one over their discounts, whose product `terms` is; None where it is none."""
        return None

    def start(self, batch: Batch) -> Array | None:  # noqa: ARG002 - for those that count more than judged documents
        """Return [Q]: what the sum begins with; None where that is nothing."""
        return None

    def norm(self, batch: Batch) -> Array:
        """Return [Q]: what the sum is divided by, mostly nothing, which is 1; where it is 0, the value is 0."""
        return batch.constant(1.0)

    @abstractmethod
    def priority(self, batch: Batch) -> Array:
        """Return [Q, H]: which tied documents the best order puts first, those of the highest; unjudged ones have 0."""

    def ideal_priority(self, batch: Batch) -> Array:
        """Return [Q, H]: which documents of a whole pool the ideal ranking puts first, mostly those of priority."""
        return self.priority(batch)

    @property
    def priority_key(self) -> object:
        """What the priority depends on beside the batch: measures with the same key share an order of ties."""
        return self.key

    def is_bounded(self, batch: Batch) -> Array:
        """Return [Q, H]: true for documents of tie groups of which best and worst are bounds, not orders."""
        return batch.xp.zeros_like(batch.judged)

    def ceiling(self, batch: Batch) -> Array:
        """Return [Q]: the highest value that a ranking of the query can have, of measures with `has_ceiling`."""
        return batch.constant(1.0)

    def lacks(self, batch: Batch) -> Array:
        """Return [Q]: true where a ranking has relevant documents and lacks what `may_lack` says."""
        return batch.xp.zeros_like(batch.pooled[:, 0])

    @abstractmethod
    def degenerate(self, batch: Batch) -> Array:
        """Return [Q]: true where no document of the pool can earn anything, so that every ranking scores 0."""

    def _repr_html_(self) -> str:
        """Show its card in a notebook: formula, parameters, ties, reference."""
        return card(self)


class Parts(NamedTuple):
    """What a measure is made of: what the sum begins with, what each document adds, what the sum is divided by."""

    start: Array | None
    terms: Array
    norm: Array

    def total(self, added: Array) -> Array:
        """Return [Q]: the sum, from what the documents add."""
        return added if self.start is None else self.start + added


class Expected(NamedTuple):
    """What the mean of a measure is made of, over labels that are probabilities."""

    gain: Array
    """[Q, H] the mean gain of each document, or the probability that it is relevant"""
    terms: Array
    """[Q, H] what each document adds"""
    norm: Array | None = None
    """[Q] what the sum is divided by, where that does not depend on labels; None for nothing"""
    start: Array | None = None
    """[Q] what the sum begins with; None for nothing"""

    def values(self) -> Array:
        """Return [Q]: the value of each query."""
        added = sum_rows(self.terms) if self.start is None else self.start + sum_rows(self.terms)
        return added + 0.0 if self.norm is None else divide(added, self.norm)

    def checked(self, measure: Measure, batch: UncertainBatch) -> Array:
        """Return the same; refuse values that are too large for a number."""
        values = self.values()
        check_finite(measure, values, lambda _: batch.labels[-1])
        return values


def check_finite(measure: Measure, values: Array, highest: Callable[[int], Array]) -> None:
    """Refuse values that are too large for a number; `highest` gives the highest label of a row, for the error."""
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
    """A measure that knows relevant documents and others."""

    rel: float = parameter(default=1, doc="labels of at least this count as relevant", check=THRESHOLD)

    def relevant(self, batch: Batch) -> Array:
        """Return [Q, H]: true for relevant documents."""
        key, memo = (Binary, self.rel), batch.memo
        if key not in memo:
            relevant = batch.grade >= self.rel
            memo[key] = batch.judged & relevant if batch.padded else relevant
        return memo[key]

    def recall_base(self, batch: Batch) -> Array:
        """Return [Q]: RB, how many documents of the pool are relevant; by place, all of it is retrieved."""
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
        """Return how probable it is that each document is relevant."""
        return Chances.of(batch, batch.labels >= self.rel)

    def priority(self, batch: Batch) -> Array:
        """Relevant documents before others."""
        return batch.to_real(self.relevant(batch))

    @property
    def priority_key(self) -> object:
        """The threshold, unless the measure has a priority of its own."""
        return (Binary, self.rel) if type(self).priority is Binary.priority else self.key

    def degenerate(self, batch: Batch) -> Array:
        """No relevant document: the best of the pool is not."""
        return ~(batch.pooled[:, 0] & (batch.pool[:, 0] >= self.rel))


IDENTITY = Identity()
"""where no relevance function is stated"""


class Graded(Measure):
    """A measure that knows degrees of relevance."""

    relevance: RelevanceLike | None = parameter(
        default=IDENTITY,
        doc="from labels to relevance: 'identity', 'shift', shift(1), 'max', max(4), 'phi' or a table",
    )

    def check_parameters(self) -> None:
        """Settle the relevance function; a shift stands before the measure's own and does not replace it."""
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
        """Settle the relevance function; refuse labels that it cannot take."""
        if isinstance(self.relevance_function, Identity):
            return self
        fitted = self.relevance_function.fit(levels)
        return self if fitted == self.relevance_function else self.replace(relevance=fitted)

    def apply_relevance(self, batch: Batch) -> Batch:
        """Relevance in place of labels, never below 0; measures with the same relevance share it.

        Labels that are relevance themselves, and none below 0, stay as they are.
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
        """Refuse a relevance function by which other labels of the query change what a label is worth."""
        super().check_expectation()
        if not self.relevance_function.by_label:
            raise MeasureError(
                f"{self}: {NO_MEAN}, since relevance depends on the other labels of the query; take a relevance "
                "function by label, such as max(4)"
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
        """More relevant documents before less relevant ones."""
        return batch.grade

    @property
    def priority_key(self) -> object:
        """Relevance alone, unless the measure has a priority of its own."""
        return Graded if type(self).priority is Graded.priority else self.key

    def degenerate(self, batch: Batch) -> Array:
        """No document of positive relevance: the best of the pool has none."""
        return batch.pool[:, 0] <= 0


def _positive(batch: Batch, values: Array, real: Array) -> Array:
    if not batch.padded:
        return batch.xp.clip(values, min=0.0)
    return batch.xp.where(real & (values > 0), values, 0.0)


class ScaleBased(Graded):
    """A graded measure that needs to know the top of the scale."""

    top: float | None = parameter(
        default=None,
        doc="the highest relevance of the scale; by default that of the collection",
        check=number("the highest relevance of the scale", POSITIVE),
    )

    def fit(self, levels: Levels) -> Self:
        """Take the top from the collection unless it is stated; refuse relevance above it."""
        fitted = super().fit(levels)
        highest = fitted.relevance_function.top(levels)
        if self.top is None:
            return fitted.replace(top=highest or 1)
        if highest > self.top:
            raise MeasureError(
                f"{self}: there is relevance above top={self.top} in the collection; use top={to_python(highest)}"
            )
        return fitted


class BinaryOrGraded(Binary, Graded):
    """A measure that knows relevant documents and others, unless a relevance function is stated: then, degrees."""

    relevance: RelevanceLike | None = parameter(
        default=None,
        doc="graded: from labels to relevance, 'identity', 'shift', shift(1), 'max', max(4), 'phi' or a table",
    )

    def check_parameters(self) -> None:
        """Refuse a threshold beside a relevance function."""
        super().check_parameters()
        if self.relevance is not None and self.rel != 1:
            raise MeasureError(f"{self.name} takes either rel (binary) or relevance (graded), not both")

    def fit(self, levels: Levels) -> Self:
        """Settle the relevance function, if there is one."""
        return self if self.relevance is None else super().fit(levels)

    def apply_relevance(self, batch: Batch) -> Batch:
        """Relevance in place of labels, if it has degrees."""
        return batch if self.relevance is None else super().apply_relevance(batch)

    def worth(self, batch: Batch) -> Array:
        """Return [Q, H]: 1 for relevant documents; graded, relevance over the top of the scale, where there is one."""
        if self.relevance is None:
            return batch.to_real(self.relevant(batch))
        return batch.grade / float(getattr(self, "top", None) or 1)

    def priority(self, batch: Batch) -> Array:
        """More relevant documents before less relevant ones."""
        return self.worth(batch)

    def degenerate(self, batch: Batch) -> Array:
        """No relevant document; graded, none of positive relevance."""
        return (Binary if self.relevance is None else Graded).degenerate(self, batch)


def card(measure: Measure) -> str:
    """Return the documentation of a measure and its parameters as they are set, as HTML."""
    text = inspect.getdoc(measure) or ""
    parts = [part for part in re.split("\n\n|\n(?=Reference:)", text) if not part.startswith(">>>")]
    body = [formula(dedent(part)) if part.startswith(" ") else sentence(" ".join(part.split())) for part in parts]
    rows = [
        [name, "all" if name == "k" and measure.k is None else show(getattr(measure, name)), declared.doc]
        for name, declared in parameters(type(measure)).items()
    ]
    table = grid(Table(["parameter", "value", "meaning"], rows))
    return box(heading(str(measure)), *body, table)
