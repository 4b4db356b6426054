"""What notebooks show of meshes, surveys and results."""

import base64
import re
import struct
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

import terrane
from terrane._notebook import colours, map_of, marks_of


class Balance(HTMLParser):
    """Whether every tag that opens is closed, in order."""

    void = ("img", "input", "br", "hr", "meta", "link", "circle")

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.tags = [], [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.void:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def shown(thing):
    page = Balance(thing._repr_html_())
    assert "script" not in page.tags
    return " ".join(page.words), page.tags


def pixels(html):
    """RGBA [rows, columns, 4] of the PNG in it."""
    data = base64.b64decode(re.search(r"base64,([^']+)", html).group(1))
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    size = struct.unpack(">I", data[33:37])[0]
    assert data[37:41] == b"IDAT"
    rows = np.frombuffer(zlib.decompress(data[41:41 + size]), np.uint8).reshape(height, 1 + 4 * width)
    return rows[:, 1:].reshape(height, width, 4)


@pytest.fixture
def mesh():
    mesh = terrane.TensorMesh.regular([0, 4000, 0, 4000, -2000, 0], shape=(4, 4, 2))
    mesh.density[0, 3, 0] = 400.0  # north-west
    return mesh


def test_a_map_has_north_on_top_and_cells_of_their_width():
    seen = pixels(map_of(np.array([[0.0, 1.0], [2.0, np.nan]]), np.array([0.0, 30, 40]), np.array([0.0, 10, 40]), "a"))
    height, width = seen.shape[:2]
    assert abs(height / width - 1) < 0.02
    assert (seen[:, :, 3] == 0).sum() / seen[:, :, 3].size == pytest.approx(0.25 * 0.75, abs=0.02)  # NaN is clear
    assert seen[0, -1, 3] == 0 and tuple(seen[0, 0, :3]) == (253, 231, 37)  # the greatest, in the north-west
    assert tuple(seen[-1, 0, :3]) == (68, 1, 84) and tuple(seen[-1, -1, :3]) == (33, 145, 140)


def test_colours_bear_every_number():
    assert colours(np.array([1e308, -1e308, 0.0]))[:, 3].tolist() == [255] * 3
    assert colours(np.array([np.nan, np.inf]))[:, 3].tolist() == [0, 0]
    assert colours(np.zeros(3)).shape == (3, 4)
    assert marks_of(np.zeros(1), np.zeros(1), "one").count("<circle") == 1
    assert marks_of(np.arange(1e5), np.zeros(100000), "many", np.arange(1e5)).count("<circle") <= 500


def test_models_show_themselves(mesh):
    words, tags = shown(mesh)
    assert "TensorMesh: 4 × 4 × 2 cells" in words and "400 kg/m³" in words and "img" in tags
    assert tuple(pixels(mesh._repr_html_())[0, 0, :3]) == (253, 231, 37)
    words, tags = shown(mesh.to_prisms())
    assert "PrismSet: 1 prisms" in words and tags.count("circle") == 1
    words, tags = shown(terrane.PrismLayer([0, 10, 20], [0, 10], [[5, 5, np.nan], [5, 0, -5]]))
    assert "PrismLayer: 3 × 2" in words and "img" in tags


def test_surveys_show_themselves():
    grid = terrane.Survey.grid([0, 1000], [0, 2000, 3000], up=100)
    assert "a grid of 2 × 3" in shown(grid)[0] and "img" in shown(grid)[1]
    points = terrane.Survey([0.0, 5.0], [0.0, 5.0], 1.0, columns={"<script>alert(1)</script>": [1.0, 2.0]})
    words, tags = shown(points)
    assert "<script>" in words and tags.count("circle") == 2
    shown(terrane.Survey([0.0], [0.0], 0.0))


def test_results_show_themselves_with_their_dataset(mesh):
    survey = terrane.Survey.grid([0, 1000, 2000], [0, 2000], up=100)
    simulation = terrane.gravity.Simulation(mesh, survey, channels=["g_z", "g_zz"], frame="harmonica")
    assert "TensorMesh: 4 × 4 × 2" in shown(simulation)[0] and "Survey: 6 stations" in shown(simulation)[0]
    result = simulation.run()
    words, tags = shown(result)
    assert "g_zz" in words and "mGal" in words
    assert "img" in tags and tags.count("details") >= 3 and "direct" in words
    points = terrane.Survey([1000.0, 1500], [3000.0, 1500], -1000.0)
    assert "circle" in shown(terrane.gravity.Simulation(mesh, points, channels="tensor").run())[1]


def test_fields_show_themselves(blocks, stations):
    words, _ = shown(terrane.gravity.forward(*blocks, *stations, channels="vector"))
    assert "g_u" in words and "50" in words and "method" in words
