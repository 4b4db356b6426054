"""What users get wrong, and what the command says then."""

import gzip
import os
import resource

import command
import memory
from command import JOB, CommandTest
from interrupt import ELASTIC, HEAT, MIGRATION


def with_(old, new):
    assert old in JOB
    return JOB.replace(old, new)


LIST = """\
[mesh]
box = [0, 2, 0, 2, -2, 0, "km"]
shape = [2, 2, 2]
[[model.body]]
kind = "box"
box = [0, 2, 0, 2, -2, 0, "km"]
density = 400
[survey]
kind = "list"
file = "stations.csv"
[output]
files = ["fields.csv"]
"""

PRISMS = """\
[mesh]
kind = "prisms"
file = "prisms.csv"
[survey]
region = [0, 2, 0, 2, "km"]
shape = [2, 2]
height = 50
[output]
files = ["fields.csv"]
"""
PRISM_HEADER = "west [m],east [m],south [m],north [m],bottom [m],top [m],density [kg/m3]\n"


class BadInput(CommandTest):
    # -- input that was made to do harm

    def test_JobThatNeverEndsIsRefused(self):
        _, message = self.terrane("run", "/dev/zero", expect=2, timeout=60)
        self.assertIn("are too many for a job file", message)

    def test_KeyOfThousandsOfPartsIsRefused(self):
        self.refused("a" + ".a" * 15000 + " = 1\n", "job.toml:1: tables are nested more than 100 deep")

    def test_PackedFileThatGrowsBeyondTheMemoryAllowedIsRefused(self):
        rows = "easting [m],northing [m],up [m]\n" + "0,0,0\n" * 5_000_000
        self.write("stations.csv", gzip.compress(rows.encode(), 1))
        self.refused(LIST.replace("[output]", '[simulation]\nmemory = "10 MB"\n[output]'),
                     "stations.csv: unpacks to more than 10 MB", status=1)

    def test_ControlCharactersOfAFileDoNotReachTheTerminal(self):
        header = "# title: \x1b]0;title\x07\neasting [m],northing [m],up [m]\n"
        self.write("stations.csv", header + "0,0,\x1b[2J\x07\n")
        message = self.refused(LIST, "stations.csv:3", 'column "up": "?[2J?" stands where a number belongs')
        self.write("stations.csv", header + "0,0,0\n")
        out, _ = self.terrane("info", "stations.csv")
        self.assertIn("?]0;title?", out)
        for text in (message, out):
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\x07", text)

    def test_LengthsBeyondTheFormulasAreRefusedByCheckToo(self):
        job = with_("[0, 2, 0, 2, -2, 0, \"km\"]", "[0, 1e150, 0, 2e3, -2e3, 0]")
        job = job.replace('kind = "sphere"\ncentre = [1, 1, -1, "km"]\nradius = "500 m"',
                          'kind = "box"\nbox = [0, 1e150, 0, 2e3, -2e3, 0]')
        self.refused(job, "model.body[0].box: entry 2: 1e+150 m", "up to 1e+15")
        self.terrane("check", "job.toml", expect=2)
        self.refused(with_("density = 400", "density = 1e308"), "model.body[0].density: 1e+308 kg/m3")

    # -- the job file

    def test_UnknownKeyStopsWithItsLineAndTheNearestSpelling(self):
        self.refused(with_("height", "hieght"), "job.toml:14: survey.hieght", 'Did you mean "height"?', "Allowed in")

    def test_UnknownTableStopsWithTheNearestSpelling(self):
        self.refused(with_("[survey]", "[survay]"), "job.toml:11: survay", 'Did you mean "survey"?')

    def test_KeyOfAnotherKindStops(self):
        self.refused(with_("height = 50", "height = 50\nazimuth = 3"), "job.toml:15: survey.azimuth")

    def test_WrongCountOfNumbersIsCounted(self):
        self.refused(with_('-2, 0, "km"]\nshape', '-2, "km"]\nshape'),
                     "job.toml:2: mesh.box: 6 numbers are needed, 5 given", "West, east, south, north")

    def test_TextWhereANumberBelongsIsShown(self):
        self.refused(with_("height = 50", 'height = "low"'), 'job.toml:14: survey.height: "low" is not a number')

    def test_NanIsNotAHeight(self):
        self.refused(with_("height = 50", "height = nan"), "job.toml:14: survey.height: nan is not a finite number")

    def test_UnitOfAnotherQuantityIsRefusedWithThoseAllowed(self):
        self.refused(with_("height = 50", 'height = "50 mGal"'), "job.toml:14: survey.height", "Allowed: m, km")

    def test_ZeroThicknessOfABoxIsNoVolume(self):
        self.refused(with_("-2, 0", "0, 0"), "job.toml:2: mesh.box: the box has no volume")

    def test_NegativeCellWidthNamesTheCell(self):
        job = with_('box = [0, 2, 0, 2, -2, 0, "km"]\nshape = [10, 10, 10]',
                    'kind = "tensor"\neasting_widths = [5, -5]\nnorthing_widths = [5]\nup_widths = [5]')
        self.refused(job, "job.toml:3: mesh.easting_widths: cell 2 is -5 m wide")

    def test_RunLengthBombIsDefused(self):
        job = with_('box = [0, 2, 0, 2, -2, 0, "km"]\nshape = [10, 10, 10]',
                    'kind = "tensor"\neasting_widths = ["1000000000*1"]\nnorthing_widths = [5]\nup_widths = [5]')
        self.refused(job, "job.toml:3: mesh.easting_widths", "1000000000*1", "more than")

    def test_SizesThatOverflowAreRefused(self):
        self.refused(with_("[10, 10, 10]", "[1e18, 1e18, 1e18]"), "job.toml:3: mesh.shape")
        self.refused(with_("shape = [4, 3]", "shape = [9e15, 9e15]"), "job.toml:13: survey.shape", "would need",
                     status=1)

    def test_UnknownChannelIsRefusedWithTheNearest(self):
        self.refused(with_('["g_u"]', '["g_x"]'), "job.toml:17: simulation.channels", "g_u")

    def test_ChannelOfAnotherFrameIsRefusedWithWhatItIsThere(self):
        self.refused(with_('["g_u"]', '["g_z"]'),
                     '"g_z" is not a channel of the frame enu. g_z is g_u with the other sign in the frame harmonica.')
        self.refused(with_('["g_u"]', '["gz"]'),
                     "gz is g_u in the frame simpeg, and g_u with the other sign in the frame ubc, tomofast.")

    def test_InversionWithoutAChannelOfItsFrameSaysWhichFrameKnowsTheColumn(self):
        self.write("stations.csv", "easting [m],northing [m],up [m],g_z [mGal],drift\n0,0,10,0.1,1\n100,0,10,0.2,2\n")
        self.write("job.toml", """
[mesh]
box = [-500, 500, -500, 500, -500, 0]
shape = [4, 4, 4]
[survey]
kind = "list"
file = "stations.csv"
[simulation]
physics = "gravity"
[inversion]
floor = [0.01]
[output]
files = ["fit.csv"]
""")
        _, message = self.terrane("invert", "job.toml", expect=2)
        self.assertIn("no column with a unit is a channel of the frame enu", message)
        self.assertIn("g_z is g_u with the other sign in the frame harmonica: set simulation.frame.", message)
        self.assertIn("drift", message)
        self.assertIn('Call their column g_u_observed [mGal] in the header of the file; with simulation.frame = '
                      '"harmonica" g_z_observed [mGal], which counts the other way.', message)
        self.terrane("check", "job.toml", "--set", 'simulation.frame="harmonica"')

    def test_StationsInOtherCoordinatesThanTheModelAreWarnedOf(self):
        self.write("prisms.csv", "west [m],east [m],south [m],north [m],bottom [m],top [m],density [kg/m3],"
                                 "susceptibility\n-100,100,-100,100,-300,-100,400,0.01\n")
        job = """
[mesh]
kind = "prisms"
file = "prisms.csv"
[survey]
kind = "list"
stations = [[%s, 0, 100], [500, 0, 100]]
[simulation]
physics = "%s"
%s
[output]
files = ["f.csv"]
"""
        for physics, more in (("gravity", ""), ("magnetic", "intensity = 5e-5\ninclination = 60")):
            self.write("job.toml", job % ("500000", physics, more))
            said, _ = self.terrane("check", "job.toml")
            self.assertNotIn("of one projection", said)  # the other one is near
            self.write("job.toml", (job % ("500000", physics, more)).replace("[500, 0,", "[500100, 0,"))
            said, _ = self.terrane("check", "job.toml")
            self.assertIn("the nearest station is 5e+05 m from the model", said)
            self.assertIn("are the coordinates of both of one projection?", said)

    def test_NoChannelsAreNothingToCompute(self):
        self.refused(with_('["g_u"]', "[]"), "job.toml:17: simulation.channels: no channel")

    def test_UnknownBodyKindIsRefusedWithTheNearest(self):
        self.refused(with_('"sphere"', '"spere"'), 'job.toml:6: model.body[0].kind: "spere" is not known.',
                     'Did you mean "sphere"?')

    def test_NegativeRadiusIsRefused(self):
        self.refused(with_('"500 m"', '"-500 m"'), "job.toml:8: model.body[0].radius: -500 is not more than zero")

    def test_MissingDensityIsAskedForByName(self):
        self.refused(with_("density = 400\n", ""), "job.toml:5: model.body[0].density: missing")

    def test_MissingHeightSaysWhatToGive(self):
        self.refused(with_("height = 50", ""), "job.toml:11: survey.height: missing", "survey.height = METRES")

    def test_EmptySurveyIsRefused(self):
        self.refused(with_("shape = [4, 3]", "shape = [0, 3]"), "job.toml:13: survey.shape")
        self.refused(with_("region = [0, 2, 0, 2, \"km\"]\nshape = [4, 3]\nheight = 50", 'kind = "list"\nstations = []'),
                     "survey.stations")

    def test_JobThatIsNotTomlPointsAtTheLine(self):
        self.refused(with_("height = 50", "height = = 50"), "job.toml:14")

    def test_JobThatIsBinaryIsRefused(self):
        self.write("job.toml", bytes(range(256)) * 20)
        _, message = self.terrane("run", "job.toml", expect=2)
        self.assertIn("job.toml:1", message)

    def test_MissingJobFileIsNamed(self):
        _, message = self.terrane("run", "nothing.toml", expect=2)
        self.assertIn("nothing.toml", message)
        self.assertIn("terrane new", message)

    def test_MissingArgumentOfTheJobIsNamed(self):
        self.refused(LIST.replace("stations.csv", "${data}/stations.csv"),
                     'job.toml:10: survey.file: the job needs the argument "data"', "--data FOLDER")

    def test_OutputWithoutAFormatIsRefusedBeforeTheRun(self):
        self.refused(with_("fields.csv", "fields.xyzzy"), "job.toml:20: output.files", "fields.xyzzy")

    def test_RunBeyondTheMemoryIsRefusedBeforeItStarts(self):
        self.refused(with_('["g_u"]', '["g_u"]\nmemory = "1 kB"'), "would need", "1.0 kB available", status=1)

    # -- files that the job names

    def test_MissingStationFileIsNamedWithTheKey(self):
        self.refused(LIST, "job.toml:10: survey.file: the file", "does not exist")

    def test_TextInAStationFileIsFoundWithItsLine(self):
        self.write("stations.csv", "easting [m],northing [m],up [m]\n1,2,3\n4,five,6\n")
        self.refused(LIST, "stations.csv:3", "five")

    def test_NanStationIsFoundWithItsLine(self):
        self.write("stations.csv", "easting [m],northing [m],up [m]\n1,2,3\n4,nan,6\n")
        self.refused(LIST, "stations.csv:3")

    def test_StationFileWithoutUnitsAsksForThem(self):
        self.write("stations.csv", "easting,northing,up\n1,2,3\n")
        self.refused(LIST, "stations.csv", "unit")
        self.terrane("run", "job.toml", "--set", "survey.length_unit=m")

    def test_StationFileWithoutStationsIsRefused(self):
        self.write("stations.csv", "easting [m],northing [m],up [m]\n")
        self.refused(LIST, "stations.csv")

    def test_EmptyStationFileIsRefused(self):
        self.write("stations.csv", "")
        self.refused(LIST, "stations.csv")

    def test_StationFileWithoutHeightsNamesTheColumn(self):
        self.write("stations.csv", "easting [m],northing [m]\n1,2\n")
        self.refused(LIST, '"up"', "survey.up_column", "survey.height")
        self.write("stations.csv", "easting [m],northing [m],depth [m]\n1,2,3\n")
        self.refused(LIST.replace("[survey]", '[survey]\nup_column = "depth"'),
                     "survey.up_column", "its depths would be heights")

    def test_LongitudesNeedAProjection(self):
        self.write("stations.csv", "longitude,latitude,up [m]\n28,-25,3\n")
        self.refused(LIST, "longitudes and latitudes", "mesh.projection")

    def test_UnknownProjectionIsRefused(self):
        self.write("stations.csv", "longitude,latitude,up [m]\n28,-25,3\n")
        self.refused(LIST.replace("[mesh]", '[mesh]\nprojection = "EPSG:0"'), "EPSG:0")

    def test_UnreadableFileIsNamed(self):
        self.write("stations.csv", "easting [m],northing [m],up [m]\n1,2,3\n").chmod(0)
        if os.access(self.folder / "stations.csv", os.R_OK):
            self.skipTest("this user may read everything")
        self.refused(LIST, "stations.csv")

    def test_TruncatedFilesAreRefused(self):
        self.write("job.toml", JOB)
        self.terrane("run", "job.toml", "--set", 'output.files=["a.nc"]', "--set", 'output.model=["m.h5", "m.npy"]',
                     "--output", "whole")
        for name in ("a.nc", "m.h5", "m.npy"):
            whole = (self.folder / "whole" / name).read_bytes()
            for part in (0, 5, 64, len(whole) // 2):
                self.write("cut-" + name, whole[:part])
                _, message = self.terrane("info", "cut-" + name, expect=2)
                self.assertIn("cut-" + name, message)

    def test_FolderInPlaceOfAFileIsRefused(self):
        (self.folder / "stations.csv").mkdir()
        self.refused(LIST, "stations.csv")

    def test_PrismWithoutThicknessIsFoundWithItsLine(self):
        self.write("prisms.csv", PRISM_HEADER + "0,1,0,1,-2,-1,100\n0,1,0,1,-2,-2,100\n")
        self.refused(PRISMS, "prisms.csv")

    def test_PrismTurnedInsideOutIsRefused(self):
        self.write("prisms.csv", PRISM_HEADER + "0,1,0,1,-1,-2,100\n")
        self.refused(PRISMS, "prisms.csv")

    def test_PrismsWithTooFewColumnsAreRefusedWithTheirLine(self):
        self.write("prisms.csv", PRISM_HEADER + "0,1,0,1,-2,-1,100\n0,1,0,1,-2\n")
        self.refused(PRISMS, "prisms.csv:3")

    def test_OverlappingPrismsAreCounted(self):
        self.write("prisms.csv", PRISM_HEADER + "0,10,0,10,-10,0,100\n5,15,0,10,-10,0,100\n5,15,5,15,-10,0,100\n")
        self.write("job.toml", PRISMS)
        _, message = self.terrane("run", "job.toml")
        self.assertIn("warning: 3 pairs of prisms overlap", message)

    def test_StationsInsideBodiesAreAllowedAndCounted(self):
        self.write("job.toml", JOB.replace("height = 50", "height = -1000"))
        out, _ = self.terrane("run", "job.toml")
        self.assertIn("stations lie inside bodies", out)

    def test_MeshOfAnotherSizeThanItsDensitiesIsRefused(self):
        self.write("mesh.msh", "2 2 2\n0 0 0\n2*5\n2*5\n2*5\n")
        self.write("rho.den", "1\n" * 7)
        job = '[mesh]\nkind = "file"\nfile = "mesh.msh"\n[model]\nfile = "rho.den"\n' + JOB[JOB.index("[survey]"):]
        self.refused(job, "rho.den")

    def test_UbcRunLengthBombIsDefused(self):
        self.write("mesh.msh", "1000000000 2 2\n0 0 0\n1000000000*1\n2*5\n2*5\n")
        job = '[mesh]\nkind = "file"\nfile = "mesh.msh"\n' + JOB[JOB.index("[[model"):]
        self.write("job.toml", job)
        _, message = self.terrane("run", "job.toml", expect=2)
        self.assertIn("mesh.msh", message)

    # -- writing

    def test_FullDiskLeavesNothingBehind(self):
        os.symlink("/dev/full", self.folder / "full.csv")
        self.write("job.toml", JOB)
        _, message = self.terrane("run", "job.toml", "--set", 'output.files=["../full.csv"]', expect=1)
        self.assertIn("full.csv", message)
        self.assertIn("space", message)

    def test_FileSizeLimitLeavesNothingBehind(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

        for name in ("fields.csv", "fields.nc", "fields.vts"):
            job = with_("shape = [4, 3]", "shape = [40, 30]").replace("fields.csv", name)
            self.refused(job, name, status=1, before=limit)

    def test_ReadOnlyFolderIsFoundBeforeTheRun(self):
        self.write("file", "not a folder")
        self.refused(JOB, "file", status=1, words=("--output", "file/below"))

    # -- the command line

    def test_UnknownVerbEndsWithStatus2(self):
        _, message = self.terrane("runn", "job.toml", expect=2)
        self.assertIn('Did you mean "run"?', message)
        self.assertIn("terrane --help", message)

    def test_NoVerbEndsWithStatus2(self):
        self.terrane(expect=2)

    def test_OverrideWithoutValueIsRefused(self):
        self.refused(JOB, "--set survey", "key=value", words=("--set", "survey"))

    def test_OverrideOfAnUnknownKeyIsRefused(self):
        self.refused(JOB, "--set survey.hieght=3", 'Did you mean "height"?', words=("--set", "survey.hieght=3"))

    def test_InfoOfAnUnknownFileEndsWithStatus2(self):
        self.write("notes.xyzzy", "hello")
        _, message = self.terrane("info", "notes.xyzzy", expect=2)
        self.assertIn("notes.xyzzy", message)

    def test_ValuesThatCannotBeMeantAreRefusedOrWarnedOf(self):
        density = "density = 400", "density = {}"
        rock = "density = 2500", "density = {}"
        warned = ((JOB, density, "2.67", "job.toml:9: model.body[0].density: 2.67 kg/m3 is no density of rock", "g/cm3"),
                  (JOB, density, "2.67e6", "model.body[0].density: 2.67e+06 kg/m3 is no density of rock", "g/cm3"),
                  (ELASTIC, rock, "2.2", "model.background.density: 2.2 kg/m3", "g/cm3"),
                  (ELASTIC, ("velocity_p = 4000", "velocity_p = {}"), "2.3e6", "model.background.velocity_p", "km/s"))
        for job, (key, value), number, *pieces in warned:
            with self.subTest(number=number):
                self.write("job.toml", job.replace(key, value.format(number)))
                out, message = self.terrane("check", "job.toml")
                for piece in pieces:
                    self.assertIn(piece, out + message)
        refused = ((HEAT, "power = 500", 'power = 500\nuntil = "-5 day"', "source.until", "more than 0 s"),
                   (ELASTIC, "force = [0, 0, 1e9]", "force = [0, 0, 0]", "source.force", "nothing would move"),
                   (MIGRATION, '"60 m"', "0", "simulation.smoothing", "nothing would scatter"),
                   (MIGRATION, '"60 m"', '"-60 m"', "simulation.smoothing", "Allowed: 0 to"))
        for job, key, value, *pieces in refused:
            with self.subTest(value=value):
                self.assertRegex(self.refused(job.replace(key, value), *pieces), r"job\.toml:\d+: ")

    def test_ReceiversOutsideAMeshAreBlamedAtWhatPlacesThem(self):
        job = memory.elastic((8, 8, 6))
        for key, before, after in (("start", "start = [200", "start = [-900"), ("height", "height = 0", "height = 700")):
            line = next(n for n, text in enumerate(job.splitlines(), 1) if text.startswith(before.split(" =")[0] + " ="))
            self.refused(job.replace(before, after), f"job.toml:{line}: survey.{key}: receiver 1: ", "outside the mesh")


if __name__ == "__main__":
    command.main()
