"""Real judges: the human labels and those of 19 machines of LLMJudge (2024), which lie beside the project."""

import numpy as np
from benchmarks.judge_subsets import coverage, read_folder

import gradely
from tests.shared_data import MORE_DATA, needs_more

FOLDER = MORE_DATA / "llmjudge-2024"
pytestmark = needs_more("llmjudge-2024")

PUBLISHED = {
    "willia-umbrela1": 0.2863,
    "Olz-gpt4o": 0.2625,
    "TREMA-4prompts": 0.1829,
    "prophet-setting2": 0.1757,
    "h2oloo-fewself": 0.2774,
    "RMITIR-GPT4o": 0.2388,
    "TREMA-direct": 0.1742,
}
"""κ with the human labels, as the organisers have it"""


def test_kappa_is_what_the_organisers_published():
    judged = read_folder(FOLDER)
    found = gradely.judges({name: judged[name] for name in ("nist", *PUBLISHED)})
    assert {name: round(found.kappa("nist", name), 4) for name in PUBLISHED} == PUBLISHED


def test_estimates_from_ten_human_queries_cover_the_mean_of_all():
    for row in coverage(FOLDER, 4).records():
        assert all(row[kind] > 0.91 for kind in ("human alone", "auto", "slope 1")), row
        assert np.isfinite(row["worth, auto"])
