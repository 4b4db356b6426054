"""Data that were observed and fields that are computed never share a name: in no format, in no frame, by no path."""

import subprocess

import command
from command import JOB, CommandTest

#: Stations with data that nobody could mistake for the field of JOB's sphere.
STATIONS = ((500, 700, 50), (1100, 900, 60), (1500, 1600, 55))
GZ, GZ_UNCERTAINTY = (1234.5, -777.25, 4321), (0.5, 0, 2)
ZZ = (91234.5, -8777.25, 54321)

FRAMES = {"enu": ("g_u", "g_uu", -1), "harmonica": ("g_z", "g_zz", 1), "simpeg": ("gz", "gzz", -1),
          "ubc": ("gz", "zz", 1), "tomofast": ("gz", "gzz", 1)}


def survey(file):
    before, after = JOB.split("[survey]")
    return before + f'[survey]\nkind = "list"\nfile = "{file}"\n\n' + after[after.index("[simulation]"):]


class ObservedAndComputed(CommandTest):
    def setUp(self):
        super().setUp()
        places = [" ".join(map(str, place)) for place in STATIONS]
        self.write("bare.obs", "3\n" + "".join(f"{p}\n" for p in places))
        self.write("data.obs", "3\n" + "".join(f"{p} {g} {u}\n" for p, g, u in zip(places, GZ, GZ_UNCERTAINTY)))
        self.write("data.gg", "datacomp=zz\n3\n" + "".join(f"{p} {z}\n" for p, z in zip(places, ZZ)))
        for frame, (down, _, sign) in FRAMES.items():
            head = f"# frame: {frame}\neasting [m],northing [m],up [m],{down} [mGal],{down}_uncertainty [mGal]\n"
            self.write(f"data_{frame}.csv", head + "".join(
                f"{p.replace(' ', ',')},{sign * g},{u}\n" for p, g, u in zip(places, GZ, GZ_UNCERTAINTY)))

    def run_job(self, file, frame, folder, files, channels=None):
        names = channels or FRAMES[frame][:2]
        self.write("job.toml", survey(file))
        return self.terrane("run", "job.toml", "--output", folder, "--set", f"simulation.frame={frame}", "--set",
                            f"simulation.channels={list(names)}".replace("'", '"'), "--set",
                            f"output.files={files}".replace("'", '"'))

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def test_FilesOfTheResultHoldWhatWasComputedInEveryFrameAndFormat(self):
        for frame, (down, vertical, _) in FRAMES.items():
            files = ["p.obs", "p.gg", "p.csv", "p.nc", "p.npy"]
            self.run_job("bare.obs", frame, "bare", files)
            bare = self.rows(self.folder / "bare/p.csv")
            for data in ("data.obs", "data.gg", *(f"data_{other}.csv" for other in FRAMES)):
                with self.subTest(frame=frame, data=data):
                    self.run_job(data, frame, "made", files)
                    for name in ("p.obs", "p.gg"):
                        self.assertEqual(self.text(f"made/{name}"), self.text(f"bare/{name}"))
                    self.assertEqual((self.folder / "made/p.npy").read_bytes(),
                                     (self.folder / "bare/p.npy").read_bytes())
                    self.terrane("convert", "made/p.nc", "from_nc.csv")
                    for name in ("made/p.csv", "from_nc.csv"):
                        rows = self.rows(self.folder / name)
                        self.assertEqual(rows[down], bare[down])
                        self.assertEqual(rows[vertical], bare[vertical])

    def test_ObservedDataTheirUncertaintyAndTheResidualAreColumnsInTheFrameOfTheResult(self):
        for frame, (down, vertical, sign) in FRAMES.items():
            for data in ("data.obs", *(f"data_{other}.csv" for other in FRAMES)):
                with self.subTest(frame=frame, data=data):
                    out, _ = self.run_job(data, frame, "made", ["p.csv"])
                    rows = self.rows(self.folder / "made/p.csv")
                    self.assertEqual(rows[f"{down}_observed"], [sign * g for g in GZ])
                    self.assertEqual(rows[f"{down}_uncertainty"], list(GZ_UNCERTAINTY))
                    self.assertEqual(rows[f"{down}_residual"],
                                     [o - c for o, c in zip(rows[f"{down}_observed"], rows[down])])
                    self.assertEqual(len(rows), 3 + 5, list(rows))
                    residual = rows[f"{down}_residual"]
                    self.assertIn(f"{down}: rms {(sum(r * r for r in residual) / 3) ** .5:.4g}", out)
                    self.assertIn(f"chi-squared {sum((r / u) ** 2 for r, u in zip(residual, (.5, 1e99, 2))):.4g} of 2",
                                  out)
            self.run_job("data.gg", frame, "made", ["p.csv"])
            self.assertEqual(self.rows(self.folder / "made/p.csv")[f"{vertical}_observed"], list(ZZ))

    def test_ConvertKeepsThemApart(self):
        self.run_job("data.obs", "ubc", "made", ["p.obs", "p.csv", "p.nc"])
        for source in ("made/p.csv", "made/p.nc"):
            self.terrane("convert", source, "a.obs")
            self.assertEqual(self.text("a.obs"), self.text("made/p.obs"))
            for frame, (down, _, sign) in FRAMES.items():
                self.terrane("convert", source, f"{frame}.csv", "--frame", frame)
                rows, start = self.rows(self.folder / f"{frame}.csv"), self.rows(self.folder / "made/p.csv")
                for ending in ("", "_observed", "_residual"):
                    self.assertEqual(rows[down + ending], [sign * v for v in start["gz" + ending]])
                self.assertEqual(rows[down + "_uncertainty"], list(GZ_UNCERTAINTY))
                self.terrane("convert", f"{frame}.csv", "b.obs")
                self.assertEqual(self.text("b.obs"), self.text("made/p.obs"))
        self.terrane("convert", "made/p.csv", "c.obs", "--field", "gz_observed")
        self.assertEqual([line.split()[3:] for line in self.text("c.obs").splitlines()[1:]],
                         [["1234.5", "0.5"], ["-777.25", "0"], ["4321", "2"]])

    def test_ConvertRefusesTwoColumnsOfOneName(self):
        self.write("two.csv", "# frame: ubc\neasting [m],northing [m],up [m],gz [mGal],g_u [mGal]\n1,2,3,4,5\n")
        _, message = self.terrane("convert", "two.csv", "out.csv", "--frame", "enu", expect=2)
        self.assertIn('"g_u" would be the name of two columns', message)
        self.assertFalse((self.folder / "out.csv").exists())

    def test_ResultAsSurveyOfTheNextRunIsComparedWithWhatWasObserved(self):
        self.run_job("data.obs", "ubc", "first", ["p.csv"])
        self.run_job("first/p.csv", "harmonica", "again", ["p.csv"])
        rows = self.rows(self.folder / "again/p.csv")
        self.assertEqual(rows["g_z_observed"], list(GZ))
        self.assertEqual(rows["g_z"], self.rows(self.folder / "first/p.csv")["gz"])
        self.assertNotIn("gz", rows)

    def test_FormatsThatLeaveSomethingOutSaySoBeforeTheRun(self):
        self.write("job.toml", survey("bare.obs"))
        for verb in ("check", "run"):
            _, message = self.terrane(verb, "job.toml", "--set", 'simulation.channels=["all"]', "--set",
                                      'output.files=["a.obs", "a.gg", "a.csv"]')
            self.assertIn("a.obs: this format leaves out potential, g_e, g_n, g_ee", message)
            self.assertIn("a.gg: this format leaves out potential, g_e, g_n, g_u", message)
            self.assertNotIn("a.csv", message)

    def test_FormatsThatWouldHoldNothingAreRefusedBeforeTheRun(self):
        self.write("job.toml", survey("data.obs"))
        for file, channels, piece in (("a.obs", '["tensor"]', "hold g_u"), ("a.gg", '["vector"]', "gradient")):
            for verb in ("check", "run"):
                _, message = self.terrane(verb, "job.toml", "--set", f"simulation.channels={channels}", "--set",
                                          f'output.files=["{file}"]', expect=2)
                self.assertIn(file, message)
                self.assertIn(piece, message)
            self.assertFalse((self.folder / "output" / file).exists())


if __name__ == "__main__":
    command.main()
