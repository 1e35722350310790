"""The README's pictures can be made again."""

from tests.diagrams.make_pictures import FOLDER, make_pictures
from tests.diagrams.pictures import PNG_BEGINS


def test_the_pictures_of_the_readme_are_those_that_the_script_draws(tmp_path):
    made = make_pictures(tmp_path / "pictures")
    assert {path.name for path in made} == {path.name for path in FOLDER.iterdir()}
    for path in [*made, *FOLDER.iterdir()]:
        assert path.read_bytes().startswith(PNG_BEGINS)
        assert path.stat().st_size < 160_000
