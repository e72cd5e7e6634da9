"""gradely trec_eval against the outputs of trec_eval 10, byte for byte, and all that its command line takes."""

import gzip
import io
import subprocess
import sys
from math import log, log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradely.adapters.pytrec_eval import RelevanceEvaluator
from gradely.cli.main import run
from gradely.data.table import IrregularText
from gradely.trec_eval import read
from gradely.trec_eval.command import ABOUT
from gradely.trec_eval.measures import TABLE, to_c_integer
from gradely.trec_eval.options import Quit, atof, atol, parse
from tests.shared_data import DATA, needs

FOLDER = DATA / "trec_eval-test"
FILES = {
    name: str(FOLDER / f"{name}.gz") for name in ("qrels.test", "results.test", "qrels.rel_level", "results.trunc")
}
PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35 "
    "-mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20"
)
OUTPUTS = {
    "out.test": "qrels.test results.test",
    "out.test.a": "-m all_trec qrels.test results.test",
    "out.test.aq": "-m all_trec -q qrels.test results.test",
    "out.test.aqc": "-m all_trec -q -c qrels.test results.trunc",
    "out.test.aqcM": "-m all_trec -q -c -M100 qrels.test results.trunc",
    "out.test.aql": "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test",
    "out.test.aqZ": f"-q -m all_trec -Z {FOLDER}/zscores_file qrels.test results.test",
    "out.test.meas_params": f"{PARAMETERS} qrels.test results.test",
}
QRELS = "1 0 a 1\n1 0 b 0\n1 0 c 2\n10 0 a 0\n10 0 d 1\n2 0 a 3\n"
RUN = "1 Q0 a 1 0.5 x\n1 Q0 b 2 0.5 x\n1 Q0 z 3 0.1 x\n10 Q0 d 1 3 x\n2 Q0 b 1 2 x\n2 Q0 a 2 1 last\n"


@pytest.fixture
def trec_eval(tmp_path, capfdbinary):
    """Return a function that runs a command line on two texts, and returns exit code, output and errors."""

    def call(options="", qrels=QRELS, ranking=RUN):
        paths = tmp_path / "qrels", tmp_path / "run"
        for path, text in zip(paths, (qrels, ranking), strict=True):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        code = run(["trec_eval", *options.split(), *map(str, paths)])
        return code, *capfdbinary.readouterr()

    return call


def values(output, query="all"):
    """Return {name: text} of one query."""
    rows = [line.split("\t") for line in output.decode().splitlines()]
    return {name.strip(): value for name, of, value in rows if of == query}


@needs("trec_eval-test")
@pytest.mark.parametrize("name", OUTPUTS)
def test_the_outputs_of_version_10_byte_for_byte(name, capfdbinary):
    arguments = [FILES.get(each, each) for each in OUTPUTS[name].split()]
    assert run(["trec_eval", *arguments]) == 0
    assert capfdbinary.readouterr().out == (FOLDER / name).read_bytes()


@needs("trec_eval-test")
def test_of_version_9_three_values_differ(capfdbinary):
    arguments = ["-m", "all_trec", "-q", FILES["qrels.test"], FILES["results.test"]]
    assert run(["trec_eval", "--compat", "9", *arguments]) == 0
    nine = capfdbinary.readouterr().out.decode().splitlines()
    ten = [
        line
        for line in (FOLDER / "out.test.aq").read_text().splitlines()
        if not line.startswith(("rbp", "unj")) and "\tall\t" not in line
    ]
    assert [line for line in nine if line not in ten and "\tall\t" not in line] == [
        "iprec_at_recall_0.10  \t301\t0.2096",
        "iprec_at_recall_0.60  \t302\t0.1420",
        "11pt_avg              \t302\t0.4360",
    ]


@needs("trec_eval-test")
def test_the_program_of_its_own_reads_standard_input_and_plain_files(tmp_path):
    """Under the name gradely-trec_eval, with its options after the files."""
    qrels = tmp_path / "qrels"
    qrels.write_bytes(gzip.decompress(Path(FILES["qrels.test"]).read_bytes()))
    code = "import sys; sys.argv[0] = 'x'; from gradely.cli import trec_eval; trec_eval()"
    done = subprocess.run(
        [sys.executable, "-c", code, str(qrels), "-", "-m", "all_trec", "-q"],
        input=gzip.decompress(Path(FILES["results.test"]).read_bytes()),
        capture_output=True,
        check=True,
    )
    assert done.stdout == (FOLDER / "out.test.aq").read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        "-q -c -l2 -M 5",
        "-qcl2 -M5",
        "-qc --level_for_rel=2 --Max_retrieved_per_topic 5",
        "--query --complete -l 2 --Max 5 -R qrels -T trec_results -o",
    ],
)
def test_options_are_read_as_getopt_long_does(trec_eval, options):
    assert trec_eval(options) == trec_eval("-q -c -l 2 -M 5")


def test_queries_go_by_the_bytes_of_their_names(trec_eval):
    _, out, _ = trec_eval("-q -n -m P.5")
    assert [line.split("\t")[1] for line in out.decode().splitlines()] == ["1", "10", "2"]


def test_measures_go_by_the_table_and_the_first_parameters_count(trec_eval):
    _, out, _ = trec_eval("-m recall.7 -m P.3,1 -m P.5 -m map.9 -m official.3 -m success.2")
    names = list(values(out))
    assert names[0] == "runid" and names.index("map") < names.index("P_1") < names.index("P_3") < names.index(
        "recall_7"
    )
    assert "P_5" not in names and values(out)["runid"] == "last"


def test_ties_go_by_name_descending_in_single_precision_in_version_9(trec_eval):
    ranking = "1 Q0 a 1 0.70000001 x\n1 Q0 b 2 0.7 x\n"
    qrels = "1 0 a 1\n1 0 b 0\n"
    assert values(trec_eval("-m recip_rank", qrels, ranking)[1]) == {"recip_rank": "1.0000"}
    assert values(trec_eval("--compat 9 -m recip_rank", qrels, ranking)[1]) == {"recip_rank": "0.5000"}


def test_only_judged_documents_and_the_most_of_a_ranking(trec_eval):
    ranking = "1 Q0 z 1 9 x\n1 Q0 n 1 8 x\n1 Q0 a 1 7 x\n1 Q0 b 1 6 x\n1 Q0 c 1 5 x\n"
    qrels = "1 0 a 0\n1 0 b 1\n1 0 c 2\n1 0 n -1\n"
    options = "-q -n -m relstring -m num_ret -m map"
    assert values(trec_eval(options, qrels, ranking)[1], "1") == {
        "num_ret": "5",
        "map": "0.3250",
        "relstring": "'-.012'",
    }
    assert values(trec_eval(f"{options} -J", qrels, ranking)[1], "1") == {
        "num_ret": "3",
        "map": "0.5833",
        "relstring": "'012'",
    }
    assert values(trec_eval(f"{options} -J -M4", qrels, ranking)[1], "1")["relstring"] == "'01'"


def test_queries_that_are_not_in_the_run(trec_eval):
    ranking = "1 Q0 a 1 0.5 x\n"
    options = (
        "-q -c -l2 -m num_rel -m num_ret -m relstring -m relstring.3 -m utility.1,-1,0,0 -m yaap -m gm_map -m num_q"
    )
    code, out, _ = trec_eval(options, ranking=ranking)
    assert code == 0
    assert values(out, "2") == {"num_ret": "0", "num_rel": "1", "relstring_3": "'-'", "utility_1,-1,0,0": "-1.0000",
                                "yaap": "-0.6931"}  # fmt: skip
    assert values(out)["num_rel"] == "4"  # labels above 0, whatever -l says
    code, out, _ = trec_eval(f"--compat 9 {options}", ranking=ranking)
    assert code == 0 and b"\t2\t" not in out
    assert values(out)["num_q"] == "3" and values(out)["gm_map"] == "0.0000"
    assert values(trec_eval("--compat 9 -m num_q", ranking=ranking)[1]) == {"num_q": "1"}


def test_what_is_left_of_a_query_that_is_not_in_the_run(trec_eval):
    """Version 10 gives it one unknown document, which -J drops and -M 0 cuts off."""
    options = "-q -c -n -m relstring.3 -m rbp_resid.p=0.5 -m utility.1,-1,0,0"
    told = [trec_eval(f"{options} {more}", ranking="1 Q0 a 1 0.5 x\n")[1] for more in ("", "-J", "-M 0", "-M -3")]
    assert values(told[0], "2") == {"utility_1,-1,0,0": "-1.0000", "relstring_3": "'-'", "rbp_resid_p=0.5": "1.0000"}
    for each in told[1:]:
        assert values(each, "2") == {"utility_1,-1,0,0": "0.0000", "relstring_3": "''", "rbp_resid_p=0.5": "0.0000"}


def test_parameters_out_of_all_proportion(trec_eval):
    out = values(
        trec_eval("-m P.99999999999999999999 -m Rprec_mult.-1,1e30 -m iprec_at_recall.-1,9 -m relstring.-4")[1]
    )
    assert set(out.values()) == {"0.0000", out["iprec_at_recall_-1.00"]}


def test_measures_of_version_10_and_those_reached_by_name_only(trec_eval):
    """Ranked: label 2, not judged, label 1, a negative label; the pool has a 4 that is not retrieved."""
    qrels = "1 0 a 2\n1 0 b 1\n1 0 c -1\n1 0 m 4\n"
    ranking = "1 Q0 a 1 9 x\n1 Q0 x 1 8 x\n1 Q0 b 1 7 x\n1 Q0 c 1 6 x\n"
    options = "-m dcg -m ideal_dcg.2=8 -m yaap -m rbp.p=0.5 -m rbp_resid.p=0.5 -m unj.4,9"
    assert values(trec_eval(options, qrels, ranking)[1]) == {
        "dcg": f"{2 + 1 / log2(4):.4f}",
        "ideal_dcg_2=8": f"{8 + 4 / log2(3) + 1 / log2(4):.4f}",
        "yaap": f"{log((1 + 1 + 2 / 3) / (1 + 3 - 1 - 2 / 3)):.4f}",
        "rbp_p=0.5": f"{0.5 * (2 / 4 + 1 / 4 * 0.5**2):.4f}",
        "rbp_resid_p=0.5": f"{0.5**4 + 0.5 * (0.5 + 0.5**3):.4f}",
        "unj_4": "0.5000",
        "unj_9": f"{2 / 9:.4f}",
    }
    gains = values(trec_eval("-m rbp.0=-1,1=1,p=0.9", "1 0 a 1\n1 0 b 0\n", "1 Q0 b 1 2 x\n1 Q0 a 1 1 x\n")[1])
    assert gains == {"rbp_0=-1,1=1,p=0.9": f"{0.1 * 0.9:.4f}"}  # from -1 … 1 to 0 … 1


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ("-m precision", 1, "no such measure"),
        ("-m P_10", 1, "P.5,10"),
        ("-m P.", 1, "no parameters"),
        ("-x", 1, "usage"),
        ("extra", 1, "two files"),
        ("--compat 8", 1, "9 or 10"),
        ("--compat 9 -m rbp", 1, "--compat 10"),
        ("-D 1", 1, "explain"),
        ("-l -1", 1, "0 or more"),
        ("-m prefs", 1, "preference"),
        ("-m prefs_simp", 1, "preference"),
        ("-R prefs", 2, "preference"),
        ("-R trec", 2, "use qrels"),
        ("-R qrels_jg", 4, "-m qrels_jg"),
        ("-m qrels_jg", 4, "-R qrels_jg"),
        ("-m map_avgjg -m runid", 4, "-R qrels_jg"),
        ("-T letor", 2, "trec_results"),
        ("-m P.0", 2, "at least 1"),
        ("-m P.a", 2, "at least 1"),
        ("-m P.5,5", 2, "twice"),
        ("-m iprec_at_recall..1,0.10", 2, "twice"),
        ("-m ndcg.1", 2, "key=number"),
        ("-m ndcg.-1=3", 2, "negative levels"),
        ("-m ndcg.1=3,2", 2, "key=number"),
        ("-m ndcg.2=9,-1=3", 2, "level -1"),
        ("-m utility.1,2", 4, "four"),
        ("-Z nothing", 255, "no such file"),
        ("-Z /dev/null", 255, "empty"),
    ],
)
def test_wrong_options_have_the_exit_code_of_trec_eval_and_one_clear_line(trec_eval, options, code, says):
    found, out, err = trec_eval(options)
    assert (found, out) == (code, b"") and err.count(b"\n") == 1 and says in err.decode()


@pytest.mark.parametrize(
    ("qrels", "ranking", "code", "says"),
    [
        ("", RUN, 2, "empty"),
        (QRELS, "", 2, "empty"),
        (QRELS + "\n", RUN, 2, "qrels:7: malformed"),
        ("1 0 a\n", RUN, 2, "3 fields instead of 4"),
        ("1\n", RUN, 2, "1 field instead of 4"),
        ("1 0 a 1 x\n", RUN, 2, "5 fields instead of 4"),
        (QRELS, "1 Q0 a 1 0.5\n", 2, "5 fields instead of 6"),
        (QRELS, "1 Q0 a 1 nan x\n" + RUN, 2, "nan"),
        (QRELS, RUN + "1 Q0 a 1 0.5 x\n", 4, "duplicate document a of query 1 in the run"),
        (QRELS + "10 0 a 0\n", RUN, 4, "duplicate document a of query 10 in the judgments"),
        (QRELS + "3 0 a 0\n", RUN, 4, "1 of 4 judged queries is not in the run: 3; count it as 0 with -c"),
        ("1 0 a -1\n1 0 b -2\n", RUN, 4, "negative"),
    ],
)
def test_wrong_input_has_the_exit_code_of_trec_eval_and_one_clear_line(trec_eval, qrels, ranking, code, says):
    found, out, err = trec_eval("-q", qrels, ranking)
    assert (found, out) == (code, b"") and err.count(b"\n") == 1 and says in err.decode()


def test_no_query_in_common(trec_eval):
    assert trec_eval("--compat 9", "3 0 a 1\n")[0] == 7
    assert trec_eval("--compat 9 -c", "3 0 a 1\n")[0] == 7
    assert trec_eval("", "3 0 a 1\n")[0] == 4
    code, out, _ = trec_eval("-c -m map -m num_q", "3 0 a 1\n")
    assert (code, values(out)) == (0, {"num_q": "1", "map": "0.0000"})


def test_text_that_trec_eval_takes(trec_eval):
    """White space of any kind, blank lines in runs, fields after the tag, numbers as atof and atol read them."""
    plain = trec_eval("-q -m all_trec")
    spaced = "  1\tQ0  a 1 0x1p-1 x y z\r\n\n1 Q0 b 2 0.5abc x\n1 Q0 z 3 .1 x\n10 Q0 d 1 high x\n"
    spaced += "2 Q0 b 1 2e0 x\n2 Q0 a 2 1 last"
    assert trec_eval("-q -m all_trec", QRELS.replace("c 2", "c 2.9").replace("b 0", " b  0.9"), spaced) == plain
    infinite = RUN.replace("2 Q0 b 1 2 x", "2 Q0 b 1 inf x")
    assert trec_eval("-q -m all_trec", ranking=infinite) == plain


def test_lines_that_are_comments_in_version_10(trec_eval):
    commented = trec_eval("-q", "# one\n# two\n" + QRELS + "# three\n", "# a run\n" + RUN + "# Q0 the last 1 line\n")
    assert commented == trec_eval("-q")
    assert trec_eval("--compat 9", "# one\n" + QRELS)[0] == 2
    assert trec_eval("--compat 9", ranking="# a run\n" + RUN)[0] == 2


def test_duplicates_count_only_among_the_documents_that_are_kept(trec_eval):
    ranking = RUN + "1 Q0 a 9 0.01 x\n7 Q0 a 1 1 x\n7 Q0 a 2 2 x\n"
    assert trec_eval("", ranking=ranking)[0] == 4
    assert trec_eval("-q -M2", ranking=ranking.replace("last", "x")) == trec_eval(
        "-q -M2", ranking=RUN.replace("last", "x")
    )


def test_names_that_are_not_utf_8_are_bytes_all_the_same(trec_eval):
    qrels, ranking = (text.replace("a", "\xe9").encode("latin-1") for text in (QRELS, RUN))
    code, out, _ = trec_eval("-q -m map -m runid", qrels.replace(b"10 ", b"1\xff "), ranking.replace(b"10 ", b"1\xff "))
    assert code == 0 and b"map                   \t1\xff\t1.0000\n" in out and b"l\xe9st" in out


def test_a_query_without_a_judgment_scores_0_unless_it_is_the_first(trec_eval):
    _, out, _ = trec_eval("-q -m all_trec", QRELS.replace("2 0 a 3", "2 0 a -3"))
    assert values(out, "2")["ndcg"] == values(out, "2")["map"] == "0.0000"
    assert values(out, "2")["relstring"] == "'-.'"


def test_help_names_every_measure_and_the_version_goes_to_standard_error(capfdbinary):
    assert list(ABOUT) == list(TABLE)
    assert run(["trec_eval", "-h"]) == 0
    told = capfdbinary.readouterr().out.decode()
    assert all(f" {name} " in told for name in TABLE) and "--compat" in told
    assert run(["trec_eval", "-h", "-m", "map", "-mP.5"]) == 0
    assert " recall " not in capfdbinary.readouterr().out.decode()
    assert run(["trec_eval", "-v"]) == 0
    done = capfdbinary.readouterr()
    assert done.out == b"" and done.err.startswith(b"trec_eval version 10")


@pytest.mark.parametrize(
    ("text", "number"),
    [("-1.5e-3x", -0.0015), ("+2", 2.0), ("0x1.8p1", 3.0), ("INF", float("inf")), ("", 0.0), ("e5", 0)],
)
def test_numbers_are_read_as_atof_does(text, number):
    assert atof(text) == number


def test_abbreviations_are_those_of_trec_eval_which_has_no_option_compat(trec_eval):
    for option in ("--c", "--co", "--com", "--comp", "--compl"):
        assert trec_eval(option, ranking="1 Q0 a 1 0.5 x\n") == trec_eval("-c", ranking="1 Q0 a 1 0.5 x\n")
    assert trec_eval("--compa 9 -q") == trec_eval("--compat 9 -q")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("-m bogus -R foo", 1),
        ("-m bogus -Z nothing", 1),
        ("-R foo -Z nothing", 2),
        ("-m P.a -Z nothing", 255),
        ("-m utility.1,2 -m ndcg.1", 2),
        ("-m utility.1,2 -Z nothing", 255),
        ("--compat 9 -m utility.1,2", 7),
        ("--compat 9 -m P.a", 2),
    ],
)
def test_of_two_errors_the_one_that_trec_eval_meets_first(trec_eval, options, code):
    assert trec_eval(options, "3 0 a 1\n")[0] == code


def test_numbers_beyond_all_numbers(trec_eval):
    """A score that is too large is infinite, and stands above the largest number; in single precision both tie."""
    qrels, scores = "1 0 a 1\n", "1 Q0 a 1 {} x\n1 Q0 b 1 1.7976931348623157e308 x\n"
    for large in ("0x1p1024", "inf", "1e999", "INFINITY"):
        ranking = scores.format(large)
        assert values(trec_eval("-m recip_rank", qrels, ranking)[1]) == {"recip_rank": "1.0000"}
        assert values(trec_eval("--compat 9 -m recip_rank", qrels, ranking)[1]) == {"recip_rank": "0.5000"}
    ranking = scores.format("-inf").replace(" 1.7976", " -1.7976")
    assert values(trec_eval("-m recip_rank", qrels, ranking)[1]) == {"recip_rank": "0.5000"}


def test_digits_are_those_of_ascii(trec_eval):
    assert values(trec_eval("-m num_rel", "1 0 a ٣\n1 0 b 2\n", "1 Q0 a 1 1 x\n")[1]) == {"num_rel": "1"}
    assert trec_eval("-m P.٣")[0] == 2
    digits = "9" * 5000
    code, out, _ = trec_eval(f"-m num_rel -M {digits}", f"1 0 a {'0' * 5000}1\n", f"1 Q0 a 1 {digits} x\n")
    assert (code, values(out)) == (0, {"num_rel": "1"})


@pytest.mark.parametrize("odd", ["inf", "1 x y"])
def test_documents_judged_twice_in_a_query_of_any_name(trec_eval, odd):
    """Names are bytes where the run is not regular."""
    qrels = "é 0 ü 1\né 0 ü 1\n"
    ranking = f"é Q0 ü 1 {odd}\n" if " " in odd else f"é Q0 ü 1 {odd} x\n"
    assert trec_eval("", qrels, ranking)[0] == 4


def test_what_does_not_look_at_documents_does_not_mind_duplicates(trec_eval):
    qrels, ranking = QRELS + "1 0 a 1\n", RUN + "1 Q0 a 1 0.5 x\n"
    for options in ("-m num_q", "-m runid", "-m runid -m num_q -q", "--compat 9 -m num_q -c"):
        assert trec_eval(options, qrels, ranking)[0] == 0
    assert trec_eval("-m num_q -m num_ret", qrels, ranking)[0] == 4
    assert trec_eval("-m num_q -m relstring", qrels, ranking)[0] == 4


def test_a_duplicate_counts_in_version_9_where_the_run_lacks_the_query(trec_eval):
    qrels = QRELS + "3 0 a 1\n3 0 a 1\n"
    assert values(trec_eval("--compat 9 -c -m num_rel", qrels)[1]) == {"num_rel": "6"}
    assert trec_eval("-c -m num_rel", qrels)[0] == 4


JUDGED = "1 0 a 1\n1 0 b 0\n1 0 c 2\n"
RANKED = "1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n"


@pytest.mark.parametrize(
    ("measure", "name", "value"),
    [
        ("iprec_at_recall.100000", "iprec_at_recall_100000.0", "0.0000"),
        ("iprec_at_recall.1e30", "iprec_at_recall_10000000", "1.0000"),
        ("iprec_at_recall.inf", "iprec_at_recall_inf", "1.0000"),
        ("iprec_at_recall.nan", "iprec_at_recall_nan", "1.0000"),
        ("Rprec_mult.1e5", "Rprec_mult_100000.0", "0.0000"),
        ("Rprec_mult.inf", "Rprec_mult_inf", "0.0000"),
        ("11pt_avg.inf", "11pt_avg_inf", "1.0000"),
        ("set_F.inf", "set_F_inf", "-nan"),
        ("set_F.nan", "set_F_nan", "nan"),
        ("set_F.-1", "set_F_-1", "-nan"),
        ("utility.inf,0,0,0", "utility_inf,0,0,0", "inf"),
        ("utility.nan,1,1,1", "utility_nan,1,1,1", "nan"),
        ("ndcg.p=3", "ndcg_p=3", "0.6075"),
        ("ndcg. 1=3", "ndcg_ 1=3", "0.7039"),
        ("G.x=3", "G_x=3", "0.3988"),
        ("ndcg.1=3,1=5", "ndcg_1=3,1=5", "0.7039"),
        ("ndcg.1=5,1=3", "ndcg_1=5,1=3", "0.4791"),
    ],
)
def test_parameters_that_are_odd_as_version_9_has_them(tmp_path, capfdbinary, measure, name, value):
    """What trec_eval 9.0.4 printed."""
    paths = tmp_path / "qrels", tmp_path / "run"
    for path, text in zip(paths, (JUDGED, RANKED), strict=True):
        path.write_text(text)
    assert run(["trec_eval", "--compat", "9", "-m", measure, *map(str, paths)]) == 0
    assert capfdbinary.readouterr().out.decode() == f"{name:<22}\tall\t{value:>6}\n"


def test_a_level_too_large_for_a_whole_number_takes_those_before_it_along(trec_eval):
    """trec_eval waits for it up to the top of the ranking; what trec_eval 9.0.4 printed."""
    ranking = "1 Q0 z 1 4 x\n" + RANKED
    given = values(trec_eval("--compat 9 -m iprec_at_recall.1,1e30 -m Rprec_mult.0.5,1e30", JUDGED, ranking)[1])
    assert given["iprec_at_recall_1.00"] == given["iprec_at_recall_10000000"] == "0.5000"
    assert given["Rprec_mult_0.50"] == "0.0000"
    assert values(trec_eval("--compat 9 -m iprec_at_recall.1 -m Rprec_mult.1", JUDGED, ranking)[1]) == {
        "iprec_at_recall_1.00": "0.0000",
        "Rprec_mult_1.00": "0.5000",
    }


def test_in_version_10_only_whole_numbers_are_levels_and_the_last_p_counts(trec_eval):
    plain = values(trec_eval("-m ndcg -m rbp.p=0.8", JUDGED, RANKED)[1])
    odd = values(trec_eval("-m ndcg.p=3,1x=7 -m rbp.p=0.5,p=0.8", JUDGED, RANKED)[1])
    assert list(odd.values()) == list(plain.values())


def test_the_sum_of_nothing_has_no_sign(trec_eval):
    """-0.0000 of a query is 0.0000 of all."""
    qrels, ranking = "1 0 a 1\n1 0 b 0\n", "1 Q0 b 1 1 x\n"
    _, out, _ = trec_eval("-q -m utility.0,-0.0,-0.0,-0.0 -N 9", qrels, ranking)
    assert values(out)["utility_0,-0.0,-0.0,-0.0"] == "0.0000"
    _, out, _ = trec_eval("-q -m set_F.-2", "1 0 a 1\n", "1 Q0 a 1 1 x\n")
    assert values(out)["set_F_-2"] == "1.0000"


GROUPED = "1 A a 1\n1 A b 0\n1 B a 0\n1 B c 2\n1 B b 1\n2 A x 1\n2 C y 1\n2 C x -1\n2 10 x 0\n"
"""of each query, judgments of several groups"""


def test_groups_of_judgments(trec_eval):
    """Ranked: 1 a b d c, 2 y x. A mean of each query over its groups, as trec_eval 9.0.4 printed it."""
    ranking = "1 Q0 a 1 4 t\n1 Q0 b 1 3 t\n1 Q0 d 1 2 t\n1 Q0 c 1 1 t\n2 Q0 y 1 2 t\n2 Q0 x 2 1 t\n"
    options = "-R qrels_jg -q -m map_avgjg -m P_avgjg.1,2 -m Rprec_mult_avgjg.1,2 -m num_q"
    for compat in ("", "--compat 9 "):
        _, out, _ = trec_eval(compat + options, GROUPED, ranking)
        assert values(out, "1") == {
            "map_avgjg": f"{(1 + (1 / 2 + 2 / 4) / 2) / 2:.4f}",
            "P_avgjg_1": f"{(1 + 0) / 2:.4f}",
            "P_avgjg_2": f"{(1 / 2 + 1 / 2) / 2:.4f}",
            "Rprec_mult_avgjg_1.00": f"{(1 + 1 / 2) / 2:.4f}",
            "Rprec_mult_avgjg_2.00": f"{(1 / 2 + 2 / 4) / 2:.4f}",
        }
        assert values(out, "2")["map_avgjg"] == f"{(0 + 1 / 2 + 1) / 3:.4f}"
        assert values(out)["num_q"] == "2"


def test_groups_of_judgments_and_the_other_options(trec_eval):
    ranking = "1 Q0 d 1 4 t\n1 Q0 b 1 3 t\n1 Q0 a 1 2 t\n"
    options = "-R qrels_jg -q -m map_avgjg"
    assert trec_eval(options, GROUPED, ranking)[0] == 4  # query 2 is not in the run
    _, out, _ = trec_eval(f"{options} -c", GROUPED, ranking)
    assert [values(out, of)["map_avgjg"] for of in ("1", "2", "all")] == ["0.2917", "0.0000", "0.1458"]
    _, out, _ = trec_eval(f"--compat 9 {options} -J", GROUPED, ranking)
    assert values(out)["map_avgjg"] == f"{(1 / 2 + 1 / 2) / 2:.4f}"
    _, out, _ = trec_eval(f"--compat 9 {options} -M 2 -l2", GROUPED, ranking)
    assert values(out)["map_avgjg"] == "0.0000"


@pytest.mark.parametrize(
    ("text", "code"),
    [(GROUPED + "1 A a 0\n", 2), (GROUPED + "\n", 2), ("# comment\n", 2), (GROUPED + "1 A\n", 2), ("", 2)],
)
def test_groups_of_judgments_that_cannot_be_read(trec_eval, text, code):
    found, out, err = trec_eval("-R qrels_jg -m qrels_jg -c", text)
    assert (found, out, err.count(b"\n")) == (code, b"", 1)


@pytest.mark.parametrize("comment", ["# made by NTCIR\n", "# comment\n", "#1 A a 1\n"])
def test_comments_among_groups_of_judgments_are_left_out_by_version_10(trec_eval, comment):
    ranking = "1 Q0 a 1 4 t\n1 Q0 b 1 3 t\n2 Q0 y 1 2 t\n2 Q0 x 2 1 t\n"
    options, text = "-R qrels_jg -q -m qrels_jg", comment + GROUPED.replace("2 A", f"{comment}2 A")
    want = trec_eval(options, GROUPED, ranking)
    assert want[0] == 0 and trec_eval(options, text, ranking) == want
    older = f"--compat 9 {options} -c"
    assert trec_eval(older, text, ranking) != trec_eval(older, GROUPED, ranking)


def test_names_of_groups_are_bytes_as_all_names_are(trec_eval):
    ranking = "1 Q0 b 1 4 t\n1 Q0 a 1 inf t\n2 Q0 x 2 1 t\n"
    want = trec_eval("-R qrels_jg -q -m qrels_jg", GROUPED.replace("a ", "é "), ranking.replace(" a ", " é "))
    text = GROUPED.replace("a ", "é ").replace("A", "ü").encode("latin-1")
    assert want[0] == 0
    assert trec_eval("-R qrels_jg -q -m qrels_jg", text, ranking.replace(" a ", " é ").encode("latin-1")) == want


def test_the_environment_may_say_the_version(monkeypatch):
    monkeypatch.setenv("GRADELY_TREC_EVAL", "9")
    assert parse(["qrels", "run"]).compat == 9
    assert parse(["--compat", "10", "qrels", "run"]).compat == 10
    monkeypatch.setenv("GRADELY_TREC_EVAL", "")
    assert parse(["qrels", "run"]).compat == 10
    monkeypatch.setenv("GRADELY_TREC_EVAL", "nine")
    with pytest.raises(Quit, match="GRADELY_TREC_EVAL must be a version of trec_eval, 9 or 10; found 'nine'"):
        parse(["qrels", "run"])


def test_measures_at_levels_of_their_own(trec_eval):
    names = values(trec_eval("-m Rprec_mult -m 11pt_avg")[1])
    assert [*names][:-1] == [f"Rprec_mult_{i / 5:.2f}" for i in range(1, 11)]


@pytest.mark.parametrize(("large", "value"), [("1e30", "0.0000"), ("1e19", "0.0000"), ("-1e30", "1.0000")])
def test_a_level_too_large_for_a_whole_number_leaves_larger_ones_alone(trec_eval, large, value):
    """2^63 is 9.2e18."""
    assert values(trec_eval(f"-m Rprec_mult.{large},0.5", JUDGED, RANKED)[1])["Rprec_mult_0.50"] == value


def test_whole_numbers_of_c_end_at_2_to_the_63():
    least = -(2.0**63)
    assert to_c_integer(np.array([2.0**62, -(2.0**62), 2.0**63, 1e19, -1e19, np.nan])).tolist() == [
        2.0**62,
        -(2.0**62),
        *[least] * 4,
    ]


def test_judgments_may_come_from_standard_input(monkeypatch, tmp_path, capfdbinary):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    printed = []
    for qrels in (str(tmp_path / "qrels"), "-"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(QRELS.encode())))
        assert run(["trec_eval", "-q", qrels, str(tmp_path / "run")]) == 0
        printed.append(capfdbinary.readouterr().out)
    assert printed[0] == printed[1]


LABELLED = "1 0 a 3\n1 0 b 2\n1 0 c 1\n1 0 d 0\n"
LISTED = "1 Q0 b 1 9 x\n1 Q0 a 1 8 x\n1 Q0 c 1 7 x\n1 Q0 d 1 6 x\n"


@pytest.mark.parametrize(
    ("measure", "gains"),
    [
        ("rbp.3=0.5,p=0.5", [2 / 2, 0.5 / 2, 1 / 2, 0]),  # 2 is the best gain: 0 … 2 becomes 0 … 1
        ("rbp.0=5,3=1,p=0.5", [1 / 4, 0, 0, 1]),  # from 1 … 5
        ("rbp.0=5,1=4,p=0.5", [0, 1 / 3, 2 / 3, 1]),  # from 2 … 5
        ("rbp.1=0.5,2=0.5,3=0.5,p=0.5", [0.5, 0.5, 0.5, 0]),  # between 0 and 1 as they are
        ("rbp.0=-1,1=1,2=1,3=0.5,p=0.5", [1, 0.75, 1, 0]),
    ],
)
def test_gains_of_rank_biased_precision_lie_between_0_and_1(trec_eval, measure, gains):
    """And what they are of a query does not depend on queries beside it, which have more or fewer judgments."""
    expected = f"{sum(gain * 0.5**rank for rank, gain in enumerate(gains, 1)):.4f}"
    more = "".join(f"2 0 x{i} 2\n3 0 x{i} 0\n" for i in range(9)) + "3 0 x9 0\n"
    others = "".join(f"{query} Q0 x{i} 1 {i} x\n" for query in (2, 3) for i in range(9))
    assert values(trec_eval(f"-q -m {measure}", LABELLED, LISTED)[1], "1")[measure.replace("rbp.", "rbp_")] == expected
    _, out, _ = trec_eval(f"-q -m {measure}", LABELLED + more, LISTED + others)
    assert values(out, "1")[measure.replace("rbp.", "rbp_")] == expected


def test_a_query_of_unlisted_levels_gains_what_it_gains_alone(trec_eval):
    """Of the label 0 alone all gain 5: there is nothing to tell them apart."""
    qrels, ranking = "1 0 a 0\n", "1 Q0 a 1 9 x\n"
    _, out, _ = trec_eval("-q -m rbp.0=5", qrels + "2 0 a 0\n2 0 b 1\n", ranking + "2 Q0 a 1 9 x\n")
    assert values(out, "1") == values(trec_eval("-q -m rbp.0=5", qrels, ranking)[1], "1") == {"rbp_0=5": "0.0000"}


def test_the_ranks_where_the_ideal_gain_falls_are_added_from_the_top():
    """The last digit tells: from the bottom it would be 0.8767344825964984."""
    labels = dict(zip("abcdef", [3, 4, 1, 2, 1, 1], strict=True))
    ranking = {doc: -float(rank) for rank, doc in enumerate(labels)}
    scores = RelevanceEvaluator({"q": labels}, ["Rndcg"]).evaluate({"q": ranking})
    assert scores == {"q": {"Rndcg": 0.8767344825964983}}


FOUR, LATE = "".join(f"1 0 d{i} 1\n" for i in range(4)), "1 Q0 z 1 9 x\n1 Q0 a 1 8 x\n"
WALKED = "1 Q0 d0 1 9 x\n1 Q0 y 1 8 x\n1 Q0 d1 1 7 x\n1 Q0 d2 1 6 x\n"
MISSED = LABELLED + "1 0 m 1\n1 0 n 1\n"


@pytest.mark.parametrize(
    ("options", "qrels", "ranking", "value"),
    [
        ("-m rbp_resid", "1 0 a 1\n1 0 z 0\n", LATE, 0),  # all is judged, and nothing can rise
        ("-l 4 -m Rndcg", LABELLED, LISTED, 0),  # no document is relevant
        ("-m ndcg_rel", "1 0 a 1\n", LATE, 1 / log2(3)),
        ("-N 100 -m utility.0,0,0,1", LABELLED, LISTED, 96),  # of 100 documents, 4 are retrieved, 3 of them relevant
        ("-N 100 -m utility.0,0,0,1", MISSED, LISTED, 94),
        ("-N 100 -m utility.0,0,1,0", MISSED, LISTED, 2),
        # levels that fall: trec_eval has walked past the second one
        ("-m 11pt_avg.0.25,0.75", FOUR, WALKED, 0.875),
        ("-m 11pt_avg.0.75,0.25", FOUR, WALKED, 1),
        # gains that are fractions are put in order: trec_eval takes their differences as whole numbers, and prints 0
        ("-m ndcg.1=0.9,2=0.5,3=0.1", LABELLED, "1 Q0 c 1 3 x\n", 0.9 / (0.9 + 0.5 / log2(3) + 0.1 / 2)),
    ],
)
def test_values_by_hand(trec_eval, options, qrels, ranking, value):
    assert list(values(trec_eval(options, qrels, ranking)[1]).values()) == [f"{value:.4f}"]


def test_a_query_of_fewer_groups_takes_none_of_the_next(trec_eval):
    ranking = "1 Q0 a 1 4 t\n1 Q0 b 1 3 t\n2 Q0 y 1 2 t\n2 Q0 x 2 1 t\n"
    _, out, _ = trec_eval("-R qrels_jg -q -m P_avgjg.2", "1 A a 1\n1 B a 0\n2 A x 1\n2 B y 1\n2 C x 1\n", ranking)
    assert [values(out, query)["P_avgjg_2"] for query in ("1", "2")] == [f"{1 / 4:.4f}", f"{1 / 2:.4f}"]


def test_help_is_in_columns(capfdbinary):
    assert run(["trec_eval", "-h"]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    named = [(line, line.split()[0]) for line in lines if line[1:2].isalnum() and line.split()[0] in ABOUT]
    starts = {line.index(f"  {' '.join(ABOUT[name].split()[:3])}") for line, name in named}
    assert len(named) == len(ABOUT) and len(starts) == 1 and max(map(len, lines)) <= 80


NAMES = st.sampled_from(
    [b"a", b"b", b"\xe9", "é".encode(), b"\xff\xc3", "\uffff".encode(), "𝄞".encode(), b"d\x01", b"B"]
)
LABELS = st.sampled_from(
    [b"0", b"1", b"2", b"-1", b"12", b"1.7", b"-1.5", b"1e1", b"0.5e1", b"+3", b"x", b"2x", b".5", b"9007199254740993"]
)
SCORES = st.sampled_from([b"0.5", b"1", b"1.5", b"-2", b"1e3", b"0x10", b"inf", b"one", b"3"])
ODD = st.sampled_from([b"# a comment\n", b"#1 0 a 1\n", b"\n", b" \n", b" # x 0 1\n", b"1 0 a\n", b"1 0 a 1 x\n"])


def some_lines(kind, *fields):
    """Lines of these fields: each document once, or maybe twice, or with odd lines between them."""
    line = st.tuples(*fields)
    lines = st.lists(
        line, min_size=1, max_size=12, unique_by=(lambda parts: (parts[0], parts[2])) if not kind else None
    )
    texts = lines.map(lambda rows: [b" ".join(parts) + b"\n" for parts in rows])
    if kind == "odd":
        texts = st.tuples(texts, st.lists(ODD, max_size=2)).map(lambda both: [*both[1], *both[0], *both[1][:1]])
    return texts.map(b"".join)


@pytest.mark.parametrize("kind", ["", "twice", "odd"])
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_both_readers_agree_whatever_bytes_duplicates_and_labels_there_are(trec_eval, kind, data):
    query = st.sampled_from([b"1", b"2", b"\xe9"])
    qrels = data.draw(some_lines(kind, query, st.just(b"0"), NAMES, LABELS))
    ranking = data.draw(some_lines(kind, query, st.just(b"Q0"), NAMES, st.just(b"1"), SCORES, st.just(b"t")))
    options = data.draw(
        st.sampled_from(["-q -c", "-q --compat 9", "-q -c -M 2", "-q", "-c -J -l 2", "--compat 9 -M 1"])
    )
    found = trec_eval(options, qrels, ranking)
    with pytest.MonkeyPatch.context() as plainly:
        plainly.setattr(read, "load_qrels", refuse)
        plainly.setattr(read, "find_in_table", refuse)
        assert found == trec_eval(options, qrels, ranking)


def refuse(*_, **__):
    raise IrregularText


def test_documents_twice_at_the_top_are_refused_whatever_is_below(trec_eval):
    ranking = "1 Q0 a 1 9 x\n1 Q0 a 1 8 x\n1 Q0 b 1 7 x\n1 Q0 c 1 6 x\n"
    assert [trec_eval(f"-M {most}", LABELLED, ranking)[0] for most in (1, 2, 4)] == [0, 4, 4]


def test_deviations_of_what_is_not_known(trec_eval, tmp_path):
    (tmp_path / "known").write_text("1\tmap\t0.5\t0.25\n10\tmap\t1.0\t0\n")
    _, out, _ = trec_eval(f"-q -n -m map -Z {tmp_path / 'known'}")
    assert [values(out, query)["Zmap"] for query in ("10", "2")] == ["0.0000", "-1000000.0000"]
    (tmp_path / "known").write_text("1\tmap\t0.5\t0.25\n10 map 1.0\n")
    code, _, err = trec_eval(f"-q -n -m map -Z {tmp_path / 'known'}")
    assert code == 255 and "known:2: malformed line, 3 fields instead of 4" in err.decode()


@pytest.mark.parametrize(
    ("text", "number"), [("9223372036854775806", 2**63 - 2), ("9223372036854775808", 2**63 - 1), ("9" * 30, 2**63 - 1)]
)
def test_numbers_of_options_end_where_those_of_c_do(text, number):
    assert atol(text) == number and atol(f"-{text}") == -number
