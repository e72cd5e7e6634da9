"""What commands write as JSON follows the schema that was promised."""

import json

import click
import pytest
from tools.schema import EXAMPLES, PATH, documents, in_demo, infer, violations

from gradely.cli.main import COMMANDS, gradely
from gradely.evaluation.result import SCHEMA

PROMISED = json.loads(PATH.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def written():
    """Return the JSON of every example."""
    with in_demo():
        return {command: documents(command) for command in EXAMPLES}


@pytest.mark.parametrize("command", EXAMPLES)
def test_json_follows_the_schema(written, command):
    for value in written[command]:
        assert violations(value, PROMISED["$defs"][command]) == []
        assert value["schema"] == PROMISED["version"] == SCHEMA


def test_a_key_that_is_gone_or_has_another_type_is_noticed(written):
    first = written["compare"][0]
    gone = {key: value for key, value in first.items() if key != "pairs"}
    assert violations(gone, PROMISED["$defs"]["compare"]) == ["$: pairs is missing"]
    other = first | {"pairs": [first["pairs"][0] | {"p": "small"}]}
    assert violations(other, PROMISED["$defs"]["compare"]) == ["$.pairs[].p: string, not number"]


def test_what_is_added_does_no_harm(written):
    schema = infer(written["plan"])
    assert violations(written["plan"][0] | {"more": [1]}, schema) == []


def test_every_command_with_json_has_a_schema():
    with click.Context(gradely) as context:
        for name in COMMANDS:
            options = {option for parameter in gradely.get_command(context, name).params for option in parameter.opts}
            assert "--format" not in options or name in PROMISED["$defs"], f"{name}: add examples to tools/schema.py"
