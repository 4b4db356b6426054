#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "support/files.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/gathers.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/io/rsf.hpp"
#include "terrane/io/segy.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_support;

/// Two shots, three receivers, four samples of 2 ms, all of them numbers that every format holds.
Gathers two_shots() {
  Gathers g;
  g.step = 0.002;
  g.samples = 4;
  g.unit = "Pa";
  for (int s = 0; s < 2; ++s)
    for (int r = 0; r < 3; ++r) {
      g.source.push_back({100.0 + 50 * s, 20, -5.5});
      g.receiver.push_back({12.5 * r, 20, -10});
      g.shot.push_back(101 + s);
      for (int t = 0; t < 4; ++t) g.values.push_back(static_cast<float>(100 * s + 10 * r + t) * -0.25F);
    }
  return g;
}

void expect_same(const Gathers& a, const Gathers& b) {
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_DOUBLE_EQ(a.step, b.step);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.receiver, b.receiver);
  EXPECT_EQ(a.shot, b.shot);
  EXPECT_EQ(a.values, b.values);
}

TEST(Gathers, AreTheSameFromADataSetAsTheyWere) {
  const auto data = to_dataset(two_shots());
  EXPECT_EQ(data.shape(data.variables.at(0)), (std::vector<std::size_t>{2, 4, 3}));
  EXPECT_EQ(data.find("receiver_easting")->dimensions, std::vector<std::string>{"receiver"});
  expect_same(to_gathers("a", data), two_shots());
}

TEST(Gathers, OfASpreadThatMovesHaveReceiversPerShot) {
  auto g = two_shots();
  for (std::size_t n = 3; n < 6; ++n) g.receiver[n][0] += 50;
  const auto data = to_dataset(g);
  EXPECT_EQ(data.find("receiver_easting")->dimensions, (std::vector<std::string>{"shot", "receiver"}));
  expect_same(to_gathers("a", data), g);
}

TEST(Gathers, OfShotsWithUnequallyManyReceiversAreTraces) {
  auto g = two_shots();
  g.source[3] = g.source[0];
  g.shot[3] = g.shot[0];
  const auto data = to_dataset(g);
  EXPECT_EQ(data.shape(data.variables.at(0)), (std::vector<std::size_t>{6, 4}));
  expect_same(to_gathers("a", data), g);
}

TEST(Gathers, SayWhatADataSetLacks) {
  auto data = to_dataset(two_shots());
  EXPECT_THAT(message([&] { to_gathers("a.nc", data, "pressur"); }), HasSubstr("no variable \"pressur\""));
  auto late = data;
  std::get<std::vector<double>>(late.find("time")->values)[2] += 1e-4;
  EXPECT_THAT(message([&] { to_gathers("a.nc", late); }), HasSubstr("not even: sample 3"));
  std::erase_if(data.coordinates, [](const Variable& v) { return v.name == "source_up"; });
  EXPECT_THAT(message([&] { to_gathers("a.nc", data); }),
              AllOf(HasSubstr("a.nc"), HasSubstr("no source_up")));
}

TEST(Segy, KeepsTracesTimesAndPlacesInIeeeFloats) {
  const TemporaryFolder folder;
  auto g = two_shots();
  g.first = -0.004;
  g.source[0][0] = 45'678.9123;  // to 10⁻⁴ m
  write_segy(folder / "a.sgy", g);
  expect_same(read_segy("a.sgy", bytes_of(folder / "a.sgy")), g);
  EXPECT_DOUBLE_EQ(read_segy("a.sgy", bytes_of(folder / "a.sgy")).first, -0.004);
}

/// Two shots of pressures and of velocities up and east.
Dataset two_shots_of_components() {
  auto data = to_dataset(two_shots());
  for (const auto* name : {"velocity_up", "velocity_east"}) {
    auto v = data.variables.front();
    v.name = name;
    v.unit = "m/s";
    for (float& value : std::get<std::vector<float>>(v.values)) value *= name[9] == 'u' ? 2.F : -3.F;
    data.variables.push_back(v);
  }
  return data;
}

TEST(Segy, TellsComponentsApartByTheCodesOfTheirTraces) {
  const TemporaryFolder folder;
  const auto data = two_shots_of_components();
  for (const auto* name : {"a.sgy", "a.su"}) {
    write(folder / name, data);
    const auto bytes = bytes_of(folder / name);
    const std::size_t begin = name[2] == 's' && name[3] == 'g' ? 3600 : 0, each = 240 + 4 * 4;
    std::vector<int> codes;
    for (std::size_t n = 0; n < 18; ++n)
      codes.push_back(bytes[begin + n * each + 28] + bytes[begin + n * each + 29]);  // either byte order
    EXPECT_THAT(codes, ElementsAre(11, 11, 11, 12, 12, 12, 14, 14, 14, 11, 11, 11, 12, 12, 12, 14, 14, 14));
    const auto again = std::get<Dataset>(read(folder / name));
    ASSERT_EQ(again.variables.size(), 3U) << name;
    for (std::size_t n = 0; n < 3; ++n) {
      EXPECT_EQ(again.variables[n].name, data.variables[n].name);
      EXPECT_EQ(again.variables[n].values, data.variables[n].values);
      EXPECT_EQ(again.variables[n].dimensions, data.variables[n].dimensions);
    }
  }
  // One component by itself has its code, too, and pressure alone is what seismic data are.
  auto up = data;
  up.variables = {data.variables[1]};
  write(folder / "up.sgy", up);
  EXPECT_EQ(bytes_of(folder / "up.sgy")[3600 + 29], 12);
  EXPECT_EQ(std::get<Dataset>(read(folder / "up.sgy")).variables.front().name, "velocity_up");
  write(folder / "p.sgy", to_dataset(two_shots()));
  EXPECT_EQ(bytes_of(folder / "p.sgy")[3600 + 29], 1);
}

TEST(Segy, ComponentsAtDifferentPlacesAreTracesWithTheirKind) {
  auto g = two_shots();
  g.kind = {11, 11, 12, 12, 12, 14};
  const auto data = to_dataset(g);
  EXPECT_EQ(data.variables.size(), 1U);
  g.kind = {12, 12, 12, 12, 12, 12};
  EXPECT_EQ(to_dataset(g).variables.front().name, "velocity_up");
}

TEST(Segy, KeepsTheUnitsOfComponents) {
  const TemporaryFolder folder;
  auto data = two_shots_of_components();
  data.variables[2].name = "acceleration_east";
  data.variables[2].unit = "m/s2";
  write(folder / "a.sgy", data);
  const auto again = std::get<Dataset>(read(folder / "a.sgy"));
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(again.variables[n].name, data.variables[n].name);
    EXPECT_EQ(again.variables[n].unit, data.variables[n].unit);
  }
  auto g = two_shots();
  g.name = "velocity", g.unit = "m/s";
  write(folder / "v.sgy", to_dataset(g));
  EXPECT_EQ(std::get<Dataset>(read(folder / "v.sgy")).variables.front().name, "velocity");
}

TEST(Segy, IbmFloatsAreRightToTwentyOneBits) {
  const TemporaryFolder folder;
  auto g = two_shots();
  const float odd[] = {1.F / 3, -123456.78F, 3e-30F, 1e30F, 0.99999994F, -1e-38F, 16, 0.0625F};
  for (std::size_t n = 0; n < std::size(odd); ++n) g.values[n] = odd[n];
  write_segy(folder / "a.sgy", g, SegySamples::ibm);
  const auto again = read_segy("a.sgy", bytes_of(folder / "a.sgy"));
  for (std::size_t n = 0; n < g.values.size(); ++n)
    EXPECT_NEAR(again.values[n], g.values[n], std::abs(g.values[n]) * std::exp2(-21)) << n;
  g.values[5] = std::nanf("");
  EXPECT_THAT(message([&] { write_segy(folder / "b.sgy", g, SegySamples::ibm); }),
              AllOf(HasSubstr("sample 2 of trace 2"), HasSubstr("Write IEEE floats")));
  EXPECT_EQ(folder.entries(), 1U);
}

/// Words of four bytes, big-endian, in the places of a header (from 1).
void put(std::string& bytes, std::size_t place, std::initializer_list<int> values) {
  for (const int v : values) bytes[place++ - 1] = static_cast<char>(v);
}

// -118.625 is the example in the description of IBM's floats: C2 76 A0 00. 1 is 41 10 00 00.
TEST(Segy, ReadsAFileAsItsStandardDescribesIt) {
  std::string bytes(3600 + 240 + 8, '\0');
  put(bytes, 3217, {0x0F, 0xA0});  // 4000 µs
  put(bytes, 3221, {0, 2});
  put(bytes, 3225, {0, 1});
  put(bytes, 3600 + 17, {0, 0, 0, 101});                  // shot point; no number of a shot
  put(bytes, 3600 + 41, {0xFF, 0xFF, 0xFF, 0xF6});        // receiver: −10
  put(bytes, 3600 + 49, {0, 0, 0, 6});                    // depth of the source
  put(bytes, 3600 + 71, {0xFF, 0xF6});                    // −10: a tenth
  put(bytes, 3600 + 73, {0, 0, 0x7E, 0x77, 0, 0, 0, 1});  // 32375, 1
  put(bytes, 3600 + 81, {0xFF, 0xFF, 0xFF, 0xFF});        // −1
  put(bytes, 3600 + 115, {0x05, 0xDC});                   // 1500 samples, which is wrong
  put(bytes, 3600 + 241, {0xC2, 0x76, 0xA0, 0, 0x41, 0x10, 0, 0});
  const auto g = read_segy("a.sgy", bytes);
  EXPECT_DOUBLE_EQ(g.step, 0.004);
  EXPECT_THAT(g.values, ElementsAre(-118.625F, 1.F));
  EXPECT_EQ(g.source.at(0), (Gathers::Place{3237.5, 0.1, -6}));
  EXPECT_EQ(g.receiver.at(0), (Gathers::Place{-0.1, 0, -10}));
  EXPECT_THAT(g.shot, ElementsAre(101));
  EXPECT_THAT(g.attributes.at("note"), HasSubstr("1 traces say another number of samples than the 2"));
}

TEST(Segy, TakesTheLengthOfTracesFromTheFirstWhereTheFileSaysNoneOrAWrongOne) {
  const TemporaryFolder folder;
  write_segy(folder / "a.sgy", two_shots());
  for (const int wrong : {0, 5}) {
    auto bytes = bytes_of(folder / "a.sgy");
    put(bytes, 3221, {0, wrong});
    expect_same(read_segy("a.sgy", bytes), two_shots());
  }
}

TEST(Segy, LittleEndianFilesAndFeetAreRead) {
  std::string bytes(3600 + 240 + 2, '\0');
  put(bytes, 3217, {0xE8, 3});  // 1000 µs
  put(bytes, 3221, {1, 0});
  put(bytes, 3225, {3, 0});  // whole numbers of two bytes
  put(bytes, 3255, {2, 0});  // feet
  put(bytes, 3600 + 81, {100, 0, 0, 0});
  put(bytes, 3600 + 241, {0xFE, 0xFF});
  const auto g = read_segy("a.sgy", bytes);
  EXPECT_THAT(g.values, ElementsAre(-2.F));
  EXPECT_DOUBLE_EQ(g.receiver.at(0)[0], 30.48);
}

TEST(Segy, OffsetsStandInWhereThereAreNoPlaces) {
  const TemporaryFolder folder;
  auto g = two_shots();
  for (auto& at : g.source) at = {};
  for (std::size_t n = 0; n < g.traces(); ++n) g.receiver[n] = {-25.0 * static_cast<double>(n + 1), 0, 0};
  write_segy(folder / "a.sgy", g);
  auto bytes = bytes_of(folder / "a.sgy");
  for (std::size_t n = 0; n < 6; ++n) put(bytes, 3600 + n * 256 + 81, {0, 0, 0, 0});
  EXPECT_EQ(read_segy("a.sgy", bytes).receiver, g.receiver);
  EXPECT_THAT(read_segy("a.sgy", bytes).attributes.at("note"), HasSubstr("receivers lie at their offsets"));
  for (std::size_t n = 0; n < 6; ++n) put(bytes, 3600 + n * 256 + 37, {0, 0, 0, 0});
  EXPECT_THAT(read_segy("a.sgy", bytes).attributes.at("note"), HasSubstr("neither places nor offsets"));
}

TEST(Segy, SaysWhatIsBrokenInAFile) {
  const TemporaryFolder folder;
  write_segy(folder / "a.sgy", two_shots());
  const auto good = bytes_of(folder / "a.sgy");
  EXPECT_THAT(message([&] { read_segy("a.sgy", good.substr(0, 3700)); }), HasSubstr("has no trace"));
  EXPECT_THAT(message([&] { read_segy("a.sgy", good.substr(0, good.size() - 1)); }),
              AllOf(HasSubstr("a.sgy"), HasSubstr("ends inside trace 6")));
  auto bad = good;
  put(bad, 3225, {0, 4});
  EXPECT_THAT(message([&] { read_segy("a.sgy", bad); }), HasSubstr("of the kind 4"));
  bad = good;
  put(bad, 3600 + 256 + 109, {0, 5});
  EXPECT_THAT(message([&] { read_segy("a.sgy", bad); }), HasSubstr("trace 2 begins at 0.005 s"));
  bad = good;
  put(bad, 3217, {0, 0});
  for (std::size_t n = 0; n < 6; ++n) put(bad, 3600 + n * 256 + 117, {0, 0});
  EXPECT_THAT(message([&] { read_segy("a.sgy", bad); }), HasSubstr("time between samples"));
  EXPECT_THROW(read_segy("a.sgy", good, 100), MemoryError);
}

TEST(Segy, WhatDoesNotFitIsSaidWithoutValues) {
  auto g = two_shots();
  g.values.clear();
  EXPECT_NO_THROW(check_segy("a.sgy", g));
  g.samples = 40'000;
  EXPECT_THAT(message([&] { check_segy("a.sgy", g); }), HasSubstr("up to 32767 samples"));
  EXPECT_NO_THROW(check_su("a.su", g));
  g = two_shots();
  g.step = 0.0012345678;
  EXPECT_THAT(message([&] { check_su("a.su", g); }),
              AllOf(HasSubstr("whole microseconds"), HasSubstr("1234.5678"),
                    HasSubstr("a step of whole microseconds")));
  g.step = 0.04;
  EXPECT_THAT(message([&] { check_segy("a.sgy", g); }), HasSubstr("1 to 32767 whole microseconds"));
  g = two_shots();
  g.receiver[2][1] = 1e10;
  EXPECT_THAT(message([&] { check_segy("a.sgy", g); }), HasSubstr("does not fit"));
}

/// A file of traces as a program writes it: `texts` more texts, `more` further headers of each trace.
struct SegyFile {
  int revision = 0x0100, texts = 0, said_texts = 0, samples = 3, said_samples = 3, traces = 3, more = 0;
  std::string bytes() const {
    std::string out(3600 + 3200 * static_cast<std::size_t>(texts), '\0');
    out[0] = 'C';
    out.replace(3600, 3200 * static_cast<std::size_t>(texts), 3200 * static_cast<std::size_t>(texts), '\x40');
    put(out, 3217, {0x0F, 0xA0});  // 4000 µs
    put(out, 3221, {said_samples >> 8 & 255, said_samples & 255});
    put(out, 3225, {0, 5});
    put(out, 3501, {revision >> 8, revision & 255});
    put(out, 3505, {said_texts >> 8 & 255, said_texts & 255});
    for (int n = 0; n < traces; ++n) {
      std::string trace(static_cast<std::size_t>(240 * (1 + more) + 4 * samples), '\0');
      put(trace, 17, {0, 0, 0, 1});
      put(trace, 81, {0, 0, 0, 10 * n});
      put(trace, 115, {said_samples >> 8 & 255, said_samples & 255});
      for (int s = 0; s < samples; ++s)
        put(trace, static_cast<std::size_t>(240 * (1 + more) + 4 * s + 1), {0x3F, 0x80, 0, 0});  // 1
      out += trace;
    }
    return out;
  }
  /// The same with numbers in the header of trace `n`.
  static std::string with(std::string file, std::size_t n, std::size_t place,
                          std::initializer_list<int> values, std::size_t trace_bytes = 252) {
    put(file, 3600 + n * trace_bytes + place, values);
    return file;
  }
};

std::vector<float> ones(std::size_t count) { return std::vector<float>(count, 1.F); }

TEST(Segy, FactorsOfWholeNumbersAndDistancesOfSamplesThatAreNotTakenAreNoted) {
  auto file = SegyFile{}.bytes();
  for (std::size_t n = 0; n < 3; ++n) file = SegyFile::with(file, n, 169, {0, 3});
  EXPECT_FALSE(read_segy("a.sgy", file).attributes.contains("note")) << "of floats they have no meaning";
  put(file, 3225, {0, 2});  // whole numbers of four bytes
  EXPECT_THAT(read_segy("a.sgy", file).attributes.at("note"), HasSubstr("3 traces give a factor 2^-N"));
  auto trace = SegyFile{.traces = 1}.bytes().substr(3600);
  put(trace, 117, {0x0F, 0xA0});
  put(trace, 181, {0x3C, 0x23, 0xD7, 0x0A});  // 0.01
  EXPECT_THAT(read_su("a.su", trace).attributes.at("note"), HasSubstr("d1 that is not their dt"));
  put(trace, 181, {0x3B, 0x83, 0x12, 0x6F});  // 0.004
  EXPECT_FALSE(read_su("a.su", trace).attributes.contains("note"));
}

TEST(Segy, TracesAreNamedByTheUnitOfTheirSamples) {
  const auto read_with = [](int kind, std::vector<int> units) {
    auto file = SegyFile{}.bytes();
    for (std::size_t n = 0; n < 3; ++n) {
      file = SegyFile::with(file, n, 29, {0, kind});
      file = SegyFile::with(file, n, 203, {0, units[n % units.size()]});
    }
    return read_segy("a.sgy", file);
  };
  const auto name_of = [&](int kind, int unit) {
    const auto v = to_dataset(read_with(kind, {unit})).variables.front();
    return v.name + " " + v.unit;
  };
  EXPECT_EQ(name_of(1, 0), "pressure ");
  EXPECT_EQ(name_of(1, 1), "pressure Pa");
  EXPECT_EQ(name_of(1, 6), "velocity m/s");
  EXPECT_EQ(name_of(1, 3), "signal mV");
  EXPECT_EQ(name_of(12, 7), "acceleration_up m/s2");
  EXPECT_EQ(name_of(14, 5), "displacement_east m");
  EXPECT_EQ(name_of(13, 0), "velocity_north ");
  EXPECT_THAT(read_with(11, {6}).attributes.at("note"),
              HasSubstr("3 traces are of the kind 11 (pressure, bytes 29 and 30), but in m/s"));
  EXPECT_FALSE(read_with(12, {6}).attributes.contains("note"));
  // A hydrophone and a geophone at one place, told apart by their units alone.
  EXPECT_EQ(to_dataset(read_with(1, {1, 6})).variables.front().name, "signal") << "not at the same places";
}

TEST(Segy, TimesOfHeadersAreScaled) {
  auto file = SegyFile{}.bytes();
  for (std::size_t n = 0; n < 3; ++n) {
    file = SegyFile::with(file, n, 109, {0x27, 0x10});  // 10000 ms
    file = SegyFile::with(file, n, 215, {0xFF, 0xF6});  // −10
  }
  EXPECT_DOUBLE_EQ(read_segy("a.sgy", file).first, 1.0);
  for (std::size_t n = 0; n < 3; ++n) file = SegyFile::with(file, n, 215, {0, 7});
  EXPECT_THAT(message([&] { read_segy("a.sgy", file); }), HasSubstr("the scale of its times is 7"));
  // SU has other things in those bytes.
  for (std::size_t n = 0; n < 3; ++n) file = SegyFile::with(file, n, 117, {0x0F, 0xA0});
  EXPECT_DOUBLE_EQ(read_su("a.su", file.substr(3600)).first, 10.0);
}

TEST(Segy, PlacesInDegreesAreLongitudesAndLatitudesAndNotMetres) {
  const auto in_unit = [](int unit, std::initializer_list<int> scale, std::initializer_list<int> longitude,
                          std::initializer_list<int> latitude) {
    auto file = SegyFile{.traces = 1}.bytes();
    file = SegyFile::with(file, 0, 71, scale);
    for (const std::size_t place : {73U, 81U}) {
      file = SegyFile::with(file, 0, place, longitude);
      file = SegyFile::with(file, 0, place + 4, latitude);
    }
    return SegyFile::with(file, 0, 89, {0, unit});
  };
  // 134.25 E, 23.5 S: hundredths of seconds of arc; 10⁻⁴ degrees; DDDMMSS.
  for (const auto& file : {in_unit(2, {0xFF, 0x9C}, {0x02, 0xE1, 0x75, 0x10}, {0xFF, 0x7E, 0xE9, 0x20}),
                           in_unit(3, {0xD8, 0xF0}, {0x00, 0x14, 0x7C, 0x24}, {0xFF, 0xFC, 0x6A, 0x08}),
                           in_unit(4, {0, 1}, {0x00, 0x14, 0x78, 0x3C}, {0xFF, 0xFC, 0x71, 0xD8})}) {
    const auto g = read_segy("a.sgy", file);
    EXPECT_TRUE(g.geographic);
    EXPECT_NEAR(g.source.at(0)[0], 134.25, 1e-12);
    EXPECT_NEAR(g.receiver.at(0)[1], -23.5, 1e-12);
    const auto data = to_dataset(g);
    EXPECT_EQ(data.find("receiver_latitude")->unit, "degrees_north");
    EXPECT_EQ(data.find("receiver_northing"), nullptr);
    EXPECT_TRUE(to_gathers("a.nc", data).geographic);
    EXPECT_THAT(message([&] { check_segy("b.sgy", g); }), HasSubstr("Project them"));
  }
  // Metres that are called seconds of arc: 23,500,000 of them are no latitude.
  const auto lengths = read_segy("a.sgy", in_unit(2, {0, 1}, {0, 8, 0, 0}, {0x01, 0x66, 0x94, 0xE0}));
  EXPECT_FALSE(lengths.geographic);
  EXPECT_EQ(lengths.source.at(0)[1], 23.5e6);
  EXPECT_THAT(lengths.attributes.at("note"),
              AllOf(HasSubstr("latitude 6527"), HasSubstr("taken for lengths")));
  auto mixed = SegyFile{}.bytes();
  mixed = SegyFile::with(mixed, 1, 89, {0, 3});
  mixed = SegyFile::with(mixed, 0, 73, {0, 0, 0, 1});
  EXPECT_THAT(message([&] { read_segy("a.sgy", mixed); }),
              HasSubstr("trace 2 has places in degrees, those before it have lengths"));
}

TEST(Segy, FurtherHeadersOfTracesArePassedByTheFilesLength) {
  for (const auto revision : {0x0200, 0x0201}) {
    auto file =
        SegyFile{.revision = revision, .samples = 120, .said_samples = 120, .traces = 2, .more = 1}.bytes();
    if (revision == 0x0200) put(file, 3507, {0, 0, 0, 1});
    else put(file, 3507, {0, 1, 0, 0});
    // 2 x 960 bytes are 2 traces; without further headers they would be 2.67 traces.
    EXPECT_EQ(read_segy("a.sgy", file).values, ones(240)) << revision;
    // The file says none: its length tells.
    put(file, 3507, {0, 0, 0, 0});
    EXPECT_THAT(message([&] { read_segy("a.sgy", file); }), HasSubstr("ends inside trace 3"));
  }
  // 2 x (480 + 240) bytes are 3 x (240 + 240) as well: the header decides.
  auto even = SegyFile{.revision = 0x0200, .samples = 60, .said_samples = 60, .traces = 2, .more = 1}.bytes();
  put(even, 3507, {0, 0, 0, 1});
  EXPECT_EQ(read_segy("a.sgy", even).values, ones(120));
  // And where none are there though the header counts them, a note says so.
  auto none = SegyFile{.revision = 0x0200}.bytes();
  put(none, 3507, {0, 0, 0, 1});
  const auto g = read_segy("a.sgy", none);
  EXPECT_EQ(g.values, ones(9));
  EXPECT_THAT(g.attributes.at("note"), HasSubstr("0 more headers of each trace by the file's length"));
}

TEST(Segy, TheSecondHeaderOfATraceHasItsPlacesAndStep) {
  auto file = SegyFile{.revision = 0x0200, .traces = 1, .more = 1}.bytes();
  put(file, 3507, {0, 0, 0, 1});
  put(file, 3217, {0, 0});
  const std::size_t second = 3600 + 240;
  put(file, second + 97, {0x41, 0x1E, 0x84, 0x80, 0x80, 0, 0, 0});  // source easting 500000.125
  put(file, second + 145, {0x40, 0x5F, 0x40, 0, 0, 0, 0, 0});       // 125 µs
  put(file, second + 233, {'S', 'E', 'G', '0', '0', '0', '0', '1'});
  const auto g = read_segy("a.sgy", file);
  EXPECT_DOUBLE_EQ(g.source.at(0)[0], 500000.125);
  EXPECT_DOUBLE_EQ(g.step, 125e-6);
  file[second + 239] = '2';
  put(file, 3217, {0, 125});
  EXPECT_THAT(read_segy("a.sgy", file).attributes.at("note"), HasSubstr("not called SEG00001"));
}

TEST(Segy, TextsBeforeTracesArePassedByTheFilesLength) {
  // Revision 0 knows none, and some programs write them all the same.
  EXPECT_EQ(read_segy("a.sgy", SegyFile{.revision = 0, .texts = 1, .said_texts = 1}.bytes()).values, ones(9));
  EXPECT_EQ(read_segy("a.sgy", SegyFile{.revision = 0, .said_texts = 1}.bytes()).values, ones(9));
  const auto wrong = read_segy("a.sgy", SegyFile{.said_texts = 2}.bytes());
  EXPECT_EQ(wrong.values, ones(9));
  EXPECT_THAT(wrong.attributes.at("note"), HasSubstr("0 more texts by the file's length, 2 by its header"));
  // −1: up to the text that ends with ((SEG: EndText)).
  auto file = SegyFile{.texts = 2, .said_texts = 0xFFFF}.bytes();
  EXPECT_THAT(message([&] { read_segy("a.sgy", file); }),
              HasSubstr("none of them ends with ((SEG: EndText))"));
  const std::string end = "((SEG: EndText))";
  file.replace(3600 + 3200 + 80, end.size(), end);
  EXPECT_EQ(read_segy("a.sgy", file).values, ones(9));
}

TEST(Segy, CountsOfSamplesBeyond16BitsComeFromTheFilesLength) {
  const auto file = SegyFile{.samples = 70'000, .said_samples = 70'000 - 65'536, .traces = 2}.bytes();
  const auto g = read_segy("a.sgy", file);
  EXPECT_EQ(g.samples, 70'000U);
  EXPECT_EQ(g.values, ones(140'000));
  EXPECT_THAT(g.attributes.at("note"), HasSubstr("of which 16 bits hold 4464"));
  auto traces = file.substr(3600);
  put(traces, 117, {0x0F, 0xA0});
  EXPECT_EQ(read_su("a.su", traces).samples, 70'000U);
  auto second = SegyFile{.revision = 0x0200, .samples = 70'000, .said_samples = 0, .traces = 1}.bytes();
  put(second, 3269, {0, 1, 0x11, 0x70});
  EXPECT_EQ(read_segy("a.sgy", second).samples, 70'000U);
}

TEST(Segy, WhatHeadersContradictOrOnlyTellIsNoted) {
  auto file = SegyFile{}.bytes();
  for (std::size_t n = 0; n < 3; ++n) file = SegyFile::with(file, n, 117, {0x07, 0xD0});
  EXPECT_THAT(read_segy("a.sgy", file).attributes.at("note"),
              HasSubstr("3 traces say 2 ms between samples; taken are the 4 ms of the binary header"));
  put(file, 3217, {0, 0});
  EXPECT_DOUBLE_EQ(read_segy("a.sgy", file).step, 0.002);
  EXPECT_THAT(message([&] {
                read_segy("a.sgy", SegyFile::with(file, 2, 117, {0, 1}));
              }),
              HasSubstr("trace 3 has 0.001 ms between samples"));
  file = SegyFile::with(file, 1, 29, {0, 2});
  put(file, 3257, {0, 1});
  EXPECT_THAT(read_segy("a.sgy", file).attributes.at("note"),
              AllOf(HasSubstr("1 traces are marked as dead"), HasSubstr("negative by its header")));
  for (std::size_t n = 0; n < 3; ++n) file = SegyFile::with(file, n, 203, {0, 6});
  EXPECT_EQ(read_segy("a.sgy", file).unit, "m/s");
  auto counted = SegyFile{.revision = 0x0200}.bytes();
  put(counted, 3513, {0, 0, 0, 0, 0, 0, 0, 4});
  EXPECT_THAT(message([&] { read_segy("a.sgy", counted); }), HasSubstr("counts 4 traces, and it has 3"));
}

TEST(Segy, WholeNumbersOfEveryKindOfRevisionTwoAreRead) {
  const auto value = [](int format, std::initializer_list<int> word) {
    std::string bytes(3600 + 240, '\0');
    put(bytes, 3217, {0, 100});
    put(bytes, 3221, {0, 1});
    put(bytes, 3225, {0, format});
    for (const int b : word) bytes += static_cast<char>(b);
    return read_segy("a.sgy", bytes).values.at(0);
  };
  EXPECT_EQ(value(7, {0xFF, 0xFF, 0xFE}), -2.F);
  EXPECT_EQ(value(9, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFD}), -3.F);
  EXPECT_EQ(value(10, {0x80, 0, 0, 0}), 2147483648.F);
  EXPECT_EQ(value(11, {0xFF, 0xFF}), 65535.F);
  EXPECT_EQ(value(15, {0xFF, 0xFF, 0xFE}), 16777214.F);
  EXPECT_EQ(value(16, {0xFF}), 255.F);
}

TEST(Gathers, TakeTheUnitsOfTimesAndPlaces) {
  auto data = to_dataset(two_shots());
  for (auto& c : data.coordinates) {
    if (c.name == "time") {
      c.unit = "ms";
      for (auto& t : std::get<std::vector<double>>(c.values)) t *= 1000;
    }
    if (c.name == "receiver_up") {  // depths
      c.attributes.push_back({"positive", "down"});
      for (auto& z : std::get<std::vector<double>>(c.values)) z = -z;
    }
    if (c.name == "source_easting") {
      c.unit = "km";
      for (auto& x : std::get<std::vector<double>>(c.values)) x /= 1000;
    }
  }
  const auto g = to_gathers("a.nc", data);
  EXPECT_DOUBLE_EQ(g.step, 0.002);
  EXPECT_DOUBLE_EQ(g.receiver.at(0)[2], -10);
  EXPECT_DOUBLE_EQ(g.source.at(0)[0], 100);
}

TEST(Su, KeepsTracesInBothByteOrders) {
  const TemporaryFolder folder;
  for (const auto order : {std::endian::little, std::endian::big}) {
    write_su(folder / "a.su", two_shots(), order);
    expect_same(read_su("a.su", bytes_of(folder / "a.su")), two_shots());
  }
  EXPECT_THAT(message([&] { read_su("a.su", bytes_of(folder / "a.su").substr(0, 1000)); }),
              HasSubstr("ends inside trace 4"));
}

TEST(Rsf, KeepsGathersOfALine) {
  const TemporaryFolder folder;
  const auto g = two_shots();
  write_rsf(folder / "a.rsf", g);
  auto again = std::get<Dataset>(read(folder / "a.rsf"));
  auto expected = g;
  for (std::size_t n = 0; n < 6; ++n) expected.shot[n] = n < 3 ? 1 : 2;
  expect_same(to_gathers("a.rsf", again), expected);
  auto bent = g;
  bent.receiver[1][1] += 1;
  bent.receiver[4][1] += 1;
  EXPECT_THAT(message([&] { write_rsf(folder / "b.rsf", bent); }),
              AllOf(HasSubstr("receiver 2 stands at 12.5, 21, -10"), HasSubstr("Write SEG-Y")));
}

// As sfspike writes it: the text, and numbers in a file beside it, depth downward.
TEST(Rsf, ReadsAModelWhoseNumbersStandBesideIt) {
  const TemporaryFolder folder;
  std::string numbers;
  for (const float v : {1.5F, 2.F, 2.5F, 1.6F, 2.1F, 2.6F})
    numbers.append(reinterpret_cast<const char*>(&v), 4);
  folder.put("vel.rsf@", numbers);
  const auto path =
      folder.put("vel.rsf",
                 "3.1\tsfspike\tmodels: me@here\tSat Nov 21\n\n\tn1=99 d1=0.01 o1=0\n"
                 "\tdata_format=\"native_float\"\n\tesize=4 in=\"vel.rsf@\"\n\tn1=3 label1=\"Depth\" "
                 "unit1=\"km\" n2=2 d2=0.02 o2=1 unit2=\"km\"\n\tlabel=\"Velocity\" unit=\"km/s\"\n");
  const auto data = std::get<MeshData>(read(path));
  EXPECT_THAT(data.mesh.easting(), ElementsAre(990, 1010, 1030));
  EXPECT_THAT(data.mesh.up(), ElementsAre(testing::DoubleEq(-25), testing::DoubleEq(-15),
                                          testing::DoubleEq(-5), testing::DoubleEq(5)));
  EXPECT_EQ(data.cells.at(0).name, "velocity_p");
  EXPECT_THAT(data.cells.at(0).values,
              testing::Pointwise(testing::DoubleNear(1e-3), {2500., 2600., 2000., 2100., 1500., 1600.}));
}

TEST(Rsf, ReadsNoFilesOutsideTheFolderOfItsHeader) {
  const TemporaryFolder folder, elsewhere;
  elsewhere.put("vel.rsf@", "12345678");
  folder.put("vel.rsf@", "12345678");
  std::filesystem::create_symlink(elsewhere / "vel.rsf@", folder / "link.rsf@");
  mkfifo((folder / "pipe.rsf@").c_str(), 0600);
  const auto read_of = [&](const std::string& in) {
    return message([&] { read(folder.put("vel.rsf", "n1=2 label1=Depth in=\"" + in + "\"")); });
  };
  EXPECT_EQ(read_of("vel.rsf@"), "no error");
  EXPECT_EQ(read_of(folder / "vel.rsf@"), "no error");
  for (const auto& in : {elsewhere / "vel.rsf@", std::string("../vel.rsf@"), std::string("link.rsf@"),
                         std::string("/etc/passwd"), std::string("/dev/zero")})
    EXPECT_THAT(read_of(in), HasSubstr("leads out of the folder")) << in;
  EXPECT_THAT(read_of("pipe.rsf@"), HasSubstr("is not an ordinary file"));
}

TEST(Rsf, KeepsAMeshAndSaysWhatIsWrong) {
  const TemporaryFolder folder;
  const MeshData mesh{TensorMesh({0, 10, 20}, {-5, 5}, {-30, -20, -10, 0}),
                      {{"velocity_p", "m/s", "", {1, 2, 3, 4, 5, 6}}},
                      {}};
  write(folder / "a.rsf", mesh);
  const auto again = std::get<MeshData>(read(folder / "a.rsf"));
  EXPECT_EQ(again.mesh.up(), mesh.mesh.up());
  EXPECT_EQ(again.cells.at(0).values, mesh.cells[0].values);
  auto uneven = mesh;
  uneven.mesh = TensorMesh({0, 10, 25}, {-5, 5}, {-30, -20, -10, 0});
  EXPECT_THAT(message([&] { left_out(folder / "b.rsf", uneven); }),
              HasSubstr("even cells, and along easting cell 1"));
  const auto refused = [&](const std::string& text) {
    return message([&] { read(folder.put("c.rsf", text)); });
  };
  EXPECT_THAT(refused("n2=3"), HasSubstr("no n1 or no in"));
  EXPECT_THAT(refused("n1=2 in=\"stdin\""), HasSubstr("no numbers follow"));
  EXPECT_THAT(refused("n1=2 in=none.rsf@"), HasSubstr("none.rsf@"));
  EXPECT_THAT(refused("n1=2 in=stdin\f\f\004abcdefg"),
              HasSubstr("2 samples of 4 bytes, and there are 7 bytes"));
  EXPECT_THAT(refused("n1=2 in=stdin\f\f\004abcdefghi"),
              HasSubstr("2 samples of 4 bytes, and there are 9 bytes"));
  EXPECT_THAT(refused("n1=1 data_format=ascii_float in=stdin\f\f\0041 2"),
              HasSubstr("after the last sample"));
  EXPECT_THAT(refused("n1=1 esize=8 in=stdin\f\f\004abcdefgh"), HasSubstr("have 8 bytes (esize)"));
  EXPECT_THAT(refused("n1=1 n2=2 unit2=furlong in=stdin\f\f\004abcdefgh"),
              HasSubstr("unit2=\"furlong\" is no length"));
  EXPECT_THAT(refused("n1=-2 in=stdin\f\f\004abcdefg"), HasSubstr("n1=-2 is no count"));
  EXPECT_THAT(refused("n1=1 label1=Offset in=stdin\f\f\004abcd"), HasSubstr("first axis is \"offset\""));
  EXPECT_THAT(refused("n1=1 data_format=native_complex in=stdin\f\f\004abcd"), HasSubstr("native_complex"));
}

TEST(Registry, KnowsSeismicFilesAndConvertsThem) {
  const TemporaryFolder folder;
  const Content held = to_dataset(two_shots());
  write(folder / "a.sgy", held);
  std::filesystem::copy_file(folder / "a.sgy", folder / "line.dat");
  EXPECT_EQ(format_of(folder / "line.dat").name, "segy");
  write(folder / "a.nc", read(folder / "line.dat"));
  write(folder / "b.su", read(folder / "a.nc"));
  expect_same(to_gathers("b.su", std::get<Dataset>(read(folder / "b.su"))), two_shots());
  EXPECT_THAT(describe(read(folder / "a.sgy"), "a.sgy"),
              AllOf(HasSubstr("shot 2, time 4, receiver 3"), HasSubstr("100 to 150 m"),
                    HasSubstr("Written by Terrane")));
  EXPECT_THAT(message([&] { write(folder / "a.grd", held); }), HasSubstr("cannot hold a data set"));
}

/// Numbers of the open data's README.
TEST(OpenData, HoldsALineOfVikingGraben) {
  const auto folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "set TERRANE_DATA to the folder of the open data";
  const auto line = std::get<Dataset>(read(folder + "/seismic/viking_small.segy"));
  EXPECT_EQ(line.shape(line.variables.at(0)), (std::vector<std::size_t>{4, 600, 120}));
  EXPECT_DOUBLE_EQ(line.real("time").at(1), 0.004);
  EXPECT_DOUBLE_EQ(line.real("source_easting").at(1), 3262);
}

}  // namespace
}  // namespace terrane::io
