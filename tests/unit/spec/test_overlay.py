import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import SpecError, Unreadable
from weft.spec.overlay import CollectiveRatios, Overlay, as_toml, load_overlay

factors = st.floats(0.01, 100)
overlays = st.builds(
    Overlay,
    name=st.text(max_size=12),
    collectives=st.dictionaries(
        st.sampled_from(["across.any.any", "inside.all_reduce.ring"]),
        st.builds(CollectiveRatios, fixed_ratio=factors, rows=st.integers(0, 99)),
    ),
    matrix_ratio=st.dictionaries(st.sampled_from(["bf16", "fp8"]), factors),
    memory_ratio=factors,
    sources=st.dictionaries(st.text(max_size=8), st.text(max_size=8)),
)  # fmt: skip


@given(overlays)
def test_an_overlay_reads_back_as_it_was_written(tmp_path_factory, overlay):
    path = tmp_path_factory.mktemp("o") / "overlay.toml"
    path.write_text(as_toml(overlay, "what it\nis"), "utf-8")
    again = load_overlay(path)
    assert again == overlay
    assert again.sha256 == overlay.sha256
    assert hash(again) == hash(overlay)


def test_a_precision_that_was_not_measured_is_as_those_that_were():
    overlay = Overlay(matrix_ratio={"bf16": 0.9})
    assert overlay.matrix("fp8") == 0.9
    assert Overlay().matrix("fp8") == 1.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = [", "not TOML"),
        ("", "holds no ratio"),
        ("speed = 3", "speed"),
        ("memory_ratio = -1.0", "memory_ratio"),
        ("memory_ratio = nan", "memory_ratio"),
        ("[collectives.x]\nfixed_ratio = 0.0", "fixed_ratio"),
    ],
)
def test_a_file_that_is_no_overlay_is_refused(tmp_path, text, said):
    path = tmp_path / "o.toml"
    path.write_text(text)
    with pytest.raises(SpecError, match=said):
        load_overlay(path)


def test_a_missing_file_cannot_be_read(tmp_path):
    with pytest.raises(Unreadable, match="weft calibrate writes one"):
        load_overlay(tmp_path / "none.toml")
