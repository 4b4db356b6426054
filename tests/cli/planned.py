"""Inversions whose mesh is planned: a data file and two lines."""

import cmath
import json
import math
import random
import re

import command
from command import SOURCE, CommandTest

BLOCK = SOURCE / "examples/10_buried_block/stations.csv"  # 400 kg/m3 in -125 … 125, -125 … 125, -275 … -100 m
LINE = SOURCE / "examples/18_resistivities/arrays.csv"


class PlannedTest(CommandTest):
    def largest(self, rows, name, sign=1):
        """The cell of the largest value, or the smallest: its value and its middle."""
        at = max(range(len(rows[name])), key=lambda n: sign * rows[name][n])
        middle = [(rows[low][at] + rows[high][at]) / 2
                  for low, high in (("west", "east"), ("south", "north"), ("bottom", "top"))]
        return rows[name][at], middle

    def cells(self, plan):
        """How many its line of the mesh says."""
        return math.prod(int(n) for n in re.search(r"mesh: (\d+) × (\d+) × (\d+) cells", plan).groups())

    def invert(self, text, *words):
        self.write("job.toml", text + '[output]\nfiles = ["fit.csv"]\nmodel = ["model.csv"]\n')
        plan, _ = self.terrane("check", "job.toml", *words)
        out, _ = self.terrane("invert", "job.toml", *words)
        return plan, out, self.rows(self.folder / "output/model.csv")


class Planned(PlannedTest):
    def test_ABlockIsFoundFromItsGravity(self):
        plan, out, rows = self.invert(f'[survey]\nfile = "{BLOCK}"\n[inversion]\nlower = 0\n')
        self.assertIn("mesh: cells of 50 m, as stations are apart", plan)
        self.assertIn("the ground is taken to be at the lowest station", plan)
        self.assertIn("stopped    converged", out)
        mass = moment = 0.0
        for n, density in enumerate(rows["density"]):
            volume = math.prod(rows[high][n] - rows[low][n]
                               for low, high in (("west", "east"), ("south", "north"), ("bottom", "top")))
            mass += density * volume
            moment += density * volume * (rows["bottom"][n] + rows["top"][n]) / 2
        self.assertAlmostEqual(mass / (400 * 250 * 250 * 175), 1, delta=0.15)
        self.assertAlmostEqual(moment / mass, -187.5, delta=60)

    def test_AFitThatIsReachedIsNoWarningWhateverTheModelStillDoes(self):
        self.write("line.ohm", "12\n# x z\n" + "".join(f"{4 * n} 0\n" for n in range(12)) + "9\n# a b m n rhoa err\n"
                   + "".join(f"{n + 1} {n + 2} {n + 3} {n + 4} 108 0.03\n" for n in range(9)))
        self.write("job.toml", '[survey]\nfile = "line.ohm"\n[simulation]\nphysics = "electric"\n[inversion]\n'
                   'reference = 100\nmost_steps = 1\n[output]\nmodel = ["model.csv"]\n')
        out, message = self.terrane("invert", "job.toml")
        self.assertIn("the data fit as they should, though the model still changed: most steps", out)
        self.assertNotIn("not converged", message)
        _, message = self.terrane("invert", "job.toml", "--set", "inversion.percent=0.1")
        self.assertIn("not converged: most steps", message)

    def test_AHillIsBelowItsOwnElectrodes(self):
        places = [(4.0 * n, 100 + 6 * math.exp(-((4 * n - 40) / 20)**2)) for n in range(21)]
        rows = [(a, a + 1, a + 1 + n, a + 2 + n) for a in range(20) for n in (1, 2, 3) if a + 2 + n < 21]
        self.write("hill.ohm", f"{len(places)}\n# x z\n" + "".join(f"{x:g} {z:.6f}\n" for x, z in places)
                   + f"{len(rows)}\n# a b m n rhoa err\n"
                   + "".join(" ".join(str(electrode + 1) for electrode in four) + " 100 0.03\n" for four in rows))
        self.write("job.toml", '[survey]\nfile = "hill.ohm"\n[simulation]\nphysics = "electric"\n[inversion]\n')
        plan, _ = self.terrane("check", "job.toml")
        self.assertIn("mesh: the ground is that of the electrodes' heights, 100", plan)
        self.assertIn("cells of 2 m: half the distance between electrodes", plan)
        self.assertIn("to 106 m", plan)
        self.write("job.toml", (self.folder / "job.toml").read_text() + '[mesh]\nkind = "planned"\ncell = 4\n')
        coarse, _ = self.terrane("check", "job.toml")
        self.assertIn("cells of 4 m, as mesh.cell says", coarse)
        self.assertGreater(self.cells(plan), 2 * self.cells(coarse))

    def test_TwoBlocksAreFoundBelowALine(self):
        _, out, rows = self.invert(f'[mesh]\nkind = "planned"\ncell = 10\n[survey]\nfile = "{LINE}"\n'
                                   '[simulation]\nphysics = "electric"\ntolerance = 1e-5\n[inversion]\npercent = [3]\n')
        self.assertIn("stopped    converged", out)
        low, at = self.largest(rows, "resistivity", -1)  # 10 ohm m in -50 … -15, -30 … -12.5 m
        self.assertLess(low, 45)
        self.assertTrue(-55 < at[0] < -10 and -35 < at[2] < -10, at)
        high, at = self.largest(rows, "resistivity")     # 600 ohm m in 25 … 65, -30 … -7.5 m
        self.assertGreater(high, 170)
        self.assertTrue(20 < at[0] < 70 and -40 < at[2] < -5, at)

    def test_SitesBringTheirFrequenciesAndTheirFirstModel(self):
        rows = ["easting [m],northing [m],up [m],frequency [Hz],z_en_real [ohm],z_en_imag [ohm],z_ne_real [ohm],z_ne_imag [ohm]"]
        for site in (-1000, 0, 1000):
            for hertz in (10**(n / 4) for n in range(-4, 9)):  # a half space of 50 ohm m: |Z|² = ω μ₀ ρ, at 45 degrees
                z = math.sqrt(2 * math.pi * hertz * 4e-7 * math.pi * 50 / 2)
                rows.append(f"{site},0,0,{hertz:.6g},{-z!r},{-z!r},{z!r},{z!r}")
        self.write("sites.csv", "\n".join(rows) + "\n")
        self.write("job.toml", '[survey]\nfile = "sites.csv"\n[simulation]\nphysics = "electromagnetic"\n'
                   '[inversion]\npercent = [5]\n')
        plan, _ = self.terrane("check", "job.toml")
        self.assertIn("source: none is named, so the data are of plane waves", plan)
        self.assertIn("8 of the file's 13 are taken, from 0.1 to 100 Hz", plan)
        self.assertIn("first model and reference: 50 ohm m, the median of the apparent resistivities", plan)
        self.assertIn("mesh: cells for impedances that are uncertain by 5 %: 2 in a skin depth", plan)
        self.assertIn("growing by 1.5 beyond the core", plan)
        exact, _ = self.terrane("check", "job.toml", "--set", "inversion.percent=[1]")
        self.assertIn("uncertain by 1 %: 4 in a skin depth", exact)
        self.assertIn("growing by 1.3 beyond the core", exact)
        usual, few = (json.loads(self.terrane("check", "job.toml", "--json", "--set", "inversion.percent=[1]", "--set",
                                              f"inversion.most_steps={steps}")[0]) for steps in (30, 3))
        self.assertAlmostEqual(few["seconds"] / usual["seconds"], 4 / 7, places=6)
        self.assertGreater(usual["seconds"], 60)
        self.assertIn("the time is that of 7 models, which most inversions take; it may be up to 4 times as long",
                      "\n".join(usual["notes"]))
        asked, _ = self.terrane("check", "job.toml", "--set", "simulation.min_width_pps=3")
        self.assertNotIn("uncertain by", asked)
        self.write("sites.csv", "\n".join(rows[:-1] + [rows[-1].replace(",0,0,", ",0,90,")]) + "\n")
        _, message = self.terrane("check", "job.toml", expect=2)
        self.assertIn("its sites stand from 0 to 90 m, and no ground is named", message)
        self.write("hill.csv", "easting [m],northing [m],up [m]\n" + "".join(
            f"{e},{n},{90 * math.exp(-((e - 1000)**2 + n**2) / 1e6):.3f}\n" for e in range(-4000, 6001, 1000)
            for n in range(-3000, 3001, 1000)))
        hill, _ = self.terrane("check", "job.toml", "--set", "model.topography=hill.csv")
        self.assertIn("air: the model says nothing of it", hill)
        self.assertIn("first model and reference: 50 ohm m", hill)
        flat, _ = self.terrane("check", "job.toml", "--set", "survey.height=2.3")
        self.assertIn("what lies above the receivers, at 2.3 m, is taken for air", flat)

    def test_GroundAlongALineIsTheSameAcross(self):
        """Heights of a line of electrodes in a table of their own: x and z, or a line in any direction."""
        arrays = "".join(f"{a},{a + 1},{a + 2},{a + 3},100\n" for a in range(6))
        self.write("line.csv", "A,B,M,N,rhoa\n" + arrays)
        self.write("job.toml", '[survey]\nfile = "line.csv"\n[model]\ntopography = "heights.csv"\n'
                   '[simulation]\nphysics = "electric"\n[inversion]\npercent = 5\n')
        self.write("heights.csv", "x,z\n0,30\n4,32\n8,31\n")
        plan, _ = self.terrane("check", "job.toml")
        self.assertIn("mesh: the ground is from 30 to 32 m", plan)
        self.assertIn("3 points along a line to the east", plan)
        self.write("heights.csv", "x,y,z\n0,0,30\n4,0.1,32\n8,0,31\n")
        self.assertIn("mesh: the ground is from 30 to 32 m", self.terrane("check", "job.toml")[0])
        self.write("heights.csv", "time,z\n0,30\n4,32\n")
        _, message = self.terrane("check", "job.toml", expect=2)
        self.assertIn("or as x and z along a line", message)

    def test_GapsAtTheEdgeOfTheGroundAreBeyondItAndGapsInsideAreRefused(self):
        ground = "ncols 5\nnrows 5\nxllcorner -250\nyllcorner -250\ncellsize 500\nNODATA_value -9999\n"
        rows = [[-9999, -9999, 30, 30, 30], [-9999, 20, 20, 20, 20], *[[20] * 5 for _ in range(3)]]

        def write():
            self.write("ground.asc", ground + "\n".join(" ".join(map(str, row)) for row in rows) + "\n")
        write()
        self.write("job.toml", command.JOB.replace("[[model.body]]", '[model]\ntopography = "ground.asc"\n\n[[model.body]]'))
        plan, _ = self.terrane("check", "job.toml")
        self.assertIn("3 of the 25 nodes are gaps at the grid's edge", plan)
        rows[2][3] = -9999
        write()
        _, message = self.terrane("check", "job.toml", expect=2)
        self.assertIn("the grid has 1 gaps inside, the first at easting 1500, northing 1000", message)
        self.assertIn("gdal_fillnodata", message)

    def test_StationsOfAListAloneLieInTheirZone(self):
        """They were at -118 m east: "utm" is the zone of the stations, also where only a file STATIONS gives them."""
        self.write("STATIONS", "AAA CI 34.01 -118.02 100.0 0.0\nBBB CI 34.03 -117.99 200.0 0.0\n")
        self.write("CMTSOLUTION", """ PDE  2014  3 28 21  9 41.40  34.0200 -118.0000   3.0 5.1 5.1 LA HABRA
event name:     la
time shift:       0.0
half duration:    1.0
latitude:        34.0200
longitude:      -118.0000
depth:            3.0
Mrr:       1.2e23
Mtt:      -0.6e23
Mpp:      -0.6e23
Mrt:       0
Mrp:       0
Mtp:       0
""")
        job = ('[mesh]\nprojection = "utm"\n[model.background]\ndensity = 2700\nvelocity_p = 6000\nvelocity_s = 3400\n'
               '[source]\nfile = "CMTSOLUTION"\n{}[simulation]\nphysics = "elastic"\nend = 4\n{}')
        self.write("job.toml", job.format("", 'stations = "STATIONS"\n'))
        plan, _ = self.terrane("check", "job.toml")
        east, north = (float(n) for n in re.search(r"in element \d+ \(([\d.e+]+), ([\d.e+]+)", plan).groups())
        self.assertTrue(4.0e5 < east < 4.2e5 and 3.7e6 < north < 3.8e6, plan)
        self.write("other.toml", job.format('[survey]\nfile = "STATIONS"\n', ""))
        self.assertEqual(self.terrane("check", "other.toml")[0].splitlines()[1:], plan.splitlines()[1:])
        metres, _ = self.terrane("check", "job.toml", "--set", 'mesh={kind="planned"}')
        self.assertIn("STATIONS: its places, such as 34.01, -118.02, are taken for metres", metres)
        self.write("event.xml", '<?xml version="1.0"?>\n<q:quakeml xmlns:q="http://quakeml.org/xmlns/quakeml/1.2"/>\n')
        _, message = self.terrane("check", "job.toml", "--set", "source.file=event.xml", expect=2)
        self.assertIn("event.xml: is QuakeML", message)
        self.assertIn("is QuakeML, which is not read", self.terrane("info", "event.xml", expect=2)[1])

    def test_FilesOfElectrodesAndSitesSayWhichPhysicsReadsThem(self):
        self.write("line.csv", "a_easting,a_northing,b_easting,b_northing,m_easting,m_northing,n_easting,n_northing,"
                   "resistance_observed [V/A]\n0,0,5,0,10,0,15,0,0.5\n")
        self.write("site.csv", "longitude,latitude,up [m],frequency [Hz],z_ne_real [ohm],z_ne_imag [ohm]\n10,50,0,1,0.01,0.01\n")
        for file, words in (("line.csv", 'simulation.physics = "electric"'),
                            ("site.csv", 'simulation.physics = "electromagnetic"')):
            self.write("job.toml", f'[survey]\nfile = "{file}"\n[inversion]\nfloor = [1]\n')
            _, message = self.terrane("check", "job.toml", expect=2)
            self.assertIn(words, message)

    def test_NamesOfStationsAreInWhatAnInversionWrites(self):
        self.write("named.csv", "ID,easting [m],northing [m],up [m],g_u [mGal]\n" + "".join(
            f"{100 + n},{100 * n},0,1,{-0.01 * n}\n" for n in range(6)))
        self.write("job.toml", '[survey]\nfile = "named.csv"\n[inversion]\nfloor = [0.01]\nleave_out = ["2"]\n'
                   '[output]\nfiles = ["fit.csv"]\n')
        out, _ = self.terrane("invert", "job.toml")
        self.assertNotIn("stay out", out)
        rows = self.rows(self.folder / "output/fit.csv")
        self.assertEqual(rows["ID"], [100, 102, 103, 104, 105])
        self.assertEqual(rows["easting"], [0, 200, 300, 400, 500])

    def test_FieldsOfSourcesBringTheirFirstModel(self):
        self.terrane("new", "inversion", "--of", "electromagnetic", "-o", "whole.toml")
        whole = (self.folder / "whole.toml").read_text(encoding="utf-8")
        start, end = whole.index("[model.background]"), whole.index("[[source]]")
        self.write("job.toml", whole[:start] + whole[end:])
        out, _ = self.terrane("check", "job.toml")
        first = float(re.search(r"first model and reference: (\S+) ohm m, the even ground", out).group(1))
        self.assertTrue(12 < first < 45, first)  # 30 ohm m, with a conductor of 3 ohm m in the middle
        self.assertIn("the ground is taken to be at 0 m", out)
        self.write("job.toml", (whole[:start] + whole[end:]).replace("[500, 0, 0]", "[500, 0, 40]"))
        _, message = self.terrane("check", "job.toml", expect=2)
        self.assertIn("sources and receivers differ in height", message)

    def test_WavesAskForVelocitiesToBeginWith(self):
        self.write("job.toml", '[source]\nat = [0, 0, -20]\nfrequency = 20\n[survey]\nstations = [[100, 0, -20]]\n'
                   '[simulation]\nphysics = "acoustic"\nend = 0.2\n[inversion]\nobserved = "g.nc"\npercent = [3]\n')
        _, message = self.terrane("check", "job.toml", expect=2)
        self.assertIn("there are no velocities to begin with", message)
        self.assertIn("a mesh is planned for it", message)

    def test_UncertaintiesHaveAModelErrorAndStationsAreLeftOut(self):
        job = f'[survey]\nfile = "{BLOCK}"\n[inversion]\nmodel_error = 5\nleave_out = ["3", "10-12"]\n'
        self.write("job.toml", job + '[mesh]\nkind = "planned"\ncell = 100\n[output]\nfiles = ["fit.csv"]\n')
        out, _ = self.terrane("invert", "job.toml")
        self.assertIn("uncertainties of g_u have a model error of 5 percent in quadrature", out)
        self.assertIn("left out, as inversion.leave_out says: stations 3, 10, 11, 12", out)
        given, rows = self.rows(BLOCK), self.rows(self.folder / "output/fit.csv")
        left = [n for n in range(400) if n not in (2, 9, 10, 11)]
        self.assertEqual(rows["g_u_observed"], [given["g_u_observed"][n] for n in left])
        for n, sigma in zip(left, rows["g_u_uncertainty"]):
            self.assertAlmostEqual(sigma, math.hypot(given["g_u_uncertainty"][n], 0.05 * given["g_u_observed"][n]), delta=1e-9)
        for wrong, words in (('leave_out = ["401"]', "from 1 to 400"), ("model_error = -1", "below zero")):
            self.write("job.toml", f'[survey]\nfile = "{BLOCK}"\n[inversion]\n{wrong}\n')
            _, message = self.terrane("check", "job.toml", expect=2)
            self.assertIn(words, message)


class ErrorsOfMeshes(PlannedTest):
    """That inversions count beside those of data."""

    def measure(self):
        """obs.csv: seven electrodes over a block of 10 ohm m, on cells of a quarter of their distance."""
        x = [10.0 * (n - 3) for n in range(7)]
        lines = [(x[n], x[n + 1], x[n + 1 + k], x[n + 2 + k]) for k in (1, 2) for n in range(5 - k)]
        head = ",".join(f"{p}_easting [m],{p}_northing [m]" for p in "abmn")
        rows = [",".join(f"{place},0" for place in four) for four in lines]
        self.write("arrays.csv", "\n".join([head, *rows]) + "\n")
        self.write("truth.toml", '[mesh]\nkind = "planned"\ncell = 2.5\n[model.background]\nresistivity = 100\n[[model.body]]\n'
                   'kind = "box"\nbox = [-12, 10, -60, 60, -14, -4]\nresistivity = 10\n[survey]\nkind = "file"\n'
                   'file = "arrays.csv"\n[simulation]\nphysics = "electric"\n[output]\nfiles = ["data.csv"]\n')
        self.terrane("run", "truth.toml", "--output", "truth")
        rho = self.rows(self.folder / "truth/data.csv")["apparent_resistivity"]
        self.write("obs.csv", "\n".join([head + ",apparent_resistivity_observed [ohm m]",
                                         *(f"{row},{value!r}" for row, value in zip(rows, rho))]) + "\n")

    def invert_with(self, verify, cell=10):
        return self.invert(f'[mesh]\nkind = "planned"\ncell = {cell}\n[survey]\nfile = "obs.csv"\n[simulation]\n'
                           f'physics = "electric"\ntolerance = 1e-5\n{verify}[inversion]\npercent = [3]\nmost_steps = 3\n')

    @staticmethod
    def misfits(out):
        return [float(value) for value in re.search(r"per datum ([\d.]+) with both, ([\d.]+) with the data's alone", out).groups()]

    def test_AreCountedAndLetThePlannedMeshBecomeFiner(self):
        self.measure()
        plan, coarse, rows = self.invert_with('verify = "estimate"\n')
        self.assertIn("errors of the mesh count beside those of data", plan)
        self.assertIn("above the data's uncertainties for 100 % of data", coarse)
        both, alone = self.misfits(coarse)
        self.assertGreater(alone, 10 * both)  # what the mesh has wrong is not put into the model
        plan, fine, finer_rows = self.invert_with('verify = "refine"\nmost_cells = 20000\n')
        self.assertIn("up to two finer meshes follow", plan)
        self.assertGreater(len(finer_rows["resistivity"]), 3 * len(rows["resistivity"]))
        self.assertIn("refined    errors above the data's: 100 % of data on 3,465 cells, ", fine)
        self.assertLess(self.misfits(fine)[1], 0.5 * alone)
        low, at = self.largest(finer_rows, "resistivity", -1)
        self.assertLess(low, 25)
        self.assertTrue(abs(at[0]) < 12 and at[2] > -20, at)

    def test_AreRefusedWhereTheyCannotBe(self):
        self.measure()
        job = ('[survey]\nfile = "obs.csv"\n[simulation]\nphysics = "electric"\n{}[inversion]\npercent = [3]\n'
               '[output]\nfiles = ["fit.csv"]\n')
        given = '[mesh]\nbox = [-100, 100, -100, 100, -80, 0]\nshape = [40, 20, 16]\n'
        for text, words in ((given + job.format('verify = "refine"\n'), "simulation.verify: the mesh is given"),
                            (job.format('verify = "estimate"\nmost_cells = 9\n'), "no finer meshes are asked for"),
                            (job.format("accuracy = 0.1\n"), "asks of its mesh what the data's uncertainties do")):
            self.write("job.toml", text)
            _, message = self.terrane("check", "job.toml", expect=2)
            self.assertIn(words, message)


def impedance(hertz, layers):
    """Of plane waves over layers, (ohm m, thickness) from the ground down, the last without end (Wait 1954)."""
    omega_mu = 2 * math.pi * hertz * 4e-7 * math.pi
    found = None
    for resistivity, thickness in reversed(layers):
        k = cmath.sqrt(1j * omega_mu / resistivity)
        own = 1j * omega_mu / k
        if found is not None:
            e = cmath.exp(-2 * k * thickness)
            r = (found - own) / (found + own)
            found = own * (1 + r * e) / (1 - r * e)
        else:
            found = own
    return found


class PlannedForPlaneWaves(CommandTest):
    def test_CellsOfAWidthThatIsAskedForHaveAirAboveTheSites(self):
        self.write("job.toml", '[mesh]\ncell = "1 km"\n[model.background]\nresistivity = 100\n'
                   '[survey]\nstations = [[0, 0, 0], [1300, 0, 0]]\n[source]\nkind = "plane_wave"\n[simulation]\n'
                   'physics = "electromagnetic"\nfrequencies = 1\n[output]\nfiles = ["fit.csv"]\n')
        out, _ = self.terrane("run", "job.toml")
        self.assertIn("cells of 1e+03 m, as asked for", out)
        self.assertIn("above the receivers, at 0 m, is taken for air", out)
        for rho in self.rows(self.folder / "output/fit.csv")["rho_ne"]:
            self.assertAlmostEqual(rho / 100, 1, delta=0.05)


class LongPlanned(PlannedTest):
    def test_ALayerIsFoundBelowASite(self):
        noise = random.Random(5)
        rows = ["easting [m],northing [m],up [m],frequency [Hz],z_en_real [ohm],z_en_imag [ohm],z_ne_real [ohm],z_ne_imag [ohm]"]
        for hertz in (1, 3, 10, 30):
            z = impedance(hertz, [(100, 400), (10, 400), (100, None)])
            parts = [sign * part * noise.gauss(1, 0.02) for sign in (-1, 1) for part in (z.real, z.imag)]
            rows.append(f"0,0,0,{hertz}," + ",".join(map(repr, parts)))
        self.write("site.csv", "\n".join(rows) + "\n")
        _, out, rows = self.invert('[survey]\nfile = "site.csv"\n[simulation]\nphysics = "electromagnetic"\nstretching = 1.5\n'
                                   'min_width_pps = 2\ntolerance = 1e-4\n[inversion]\npercent = [4]\nmost_steps = 4\n')
        fits = [float(value) for value in re.findall(r"chi² / N   z_.. ([\d.]+)", out)]
        self.assertTrue(len(fits) == 2 and max(fits) < 1.3, fits)
        below = [(rows["top"][n], rows["bottom"][n], value) for n, value in enumerate(rows["resistivity"])
                 if rows["west"][n] <= 0 < rows["east"][n] and rows["south"][n] <= 0 < rows["north"][n] and rows["top"][n] < 1]
        layer = [value for top, bottom, value in below if -850 < (top + bottom) / 2 < -400]
        mean = math.exp(sum(map(math.log, layer)) / len(layer))  # 10 ohm m
        self.assertTrue(6 < mean < 14 and max(layer) < 20, below)
        self.assertGreater(max(value for top, _, value in below if top > -250), 60)
        self.assertGreater(max(value for top, _, value in below if -2500 < top < -1000), 35)


class Json(CommandTest):
    def test_ReportsAreObjects(self):
        self.write("job.toml", command.JOB)
        out, message = self.terrane("check", "job.toml", "--json")
        plan = json.loads(out)
        self.assertEqual([plan[name] for name in ("verb", "job", "simulation", "warnings")], ["check", "job.toml", "", []])
        self.assertEqual(plan["values"]["stations"], 12)
        self.assertGreater(plan["memory_available"], plan["memory_bytes"])
        self.assertTrue(plan["would_write"][0].endswith("output/fields.csv"))
        out, _ = self.terrane("run", "job.toml", "--json")
        report = json.loads(out)
        self.assertEqual(report["verb"], "run")
        self.assertEqual(report["method"], plan["method"])
        self.assertTrue(report["wrote"][0].endswith("output/fields.csv"))
        out, _ = self.terrane("info", "output/fields.csv", "job.csv", "--json", expect=2)
        held = json.loads(out.splitlines()[0])
        self.assertEqual((held["kind"], held["rows"], held["columns"]["g_u"]["unit"]), ("table", 12, "mGal"))
        self.assertLess(held["columns"]["g_u"]["most"], 0)

    def test_SeveralSimulationsAreALineEach(self):
        text = command.JOB.replace("[simulation]", '[[simulation]]\nname = "first"')
        self.write("job.toml", text.replace('files = ["fields.csv"]', 'files = ["a.csv"]')
                   + '[[simulation]]\nname = "second"\nchannels = ["g_uu"]\n[output.second]\nfiles = ["b.csv"]\n')
        out, _ = self.terrane("check", "job.toml", "--json")
        self.assertEqual([json.loads(line)["simulation"] for line in out.splitlines()], ["first", "second"])
        out, _ = self.terrane("run", "job.toml", "--json")
        self.assertEqual([json.loads(line)["simulation"] for line in out.splitlines()], ["first", "second"])


if __name__ == "__main__":
    command.main()
