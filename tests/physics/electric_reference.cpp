// Every row of tests/support/data/dc_layered.csv: arrays of 1 m to 500 m over layered earths, one of them
// anisotropic, each on a mesh that is fine at its own electrodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "support/rows.hpp"
#include "terrane/physics/electric/forward.hpp"

namespace terrane::electric::reference {
namespace {

/// Faces with cells of `least` at each of these places that grow away from them by `growth`, up to `far`
/// beyond the outermost. The places are faces.
std::vector<double> fine_at(std::vector<double> places, double least, double growth, double far) {
  std::sort(places.begin(), places.end());
  std::vector<double> all;
  for (std::size_t n = 0; n + 1 < places.size(); ++n) {
    const double gap = places[n + 1] - places[n];
    std::vector<double> widths;  // of half of the gap, from its end
    double sum = 0;
    for (double width = least; sum < gap / 2; width *= growth) sum += widths.emplace_back(width);
    for (double& width : widths) width *= gap / (2 * sum);
    double at = places[n];
    for (const double width : widths) all.push_back(at), at += width;
    for (auto width = widths.rbegin(); width != widths.rend(); ++width) all.push_back(at), at += *width;
  }
  all.push_back(places.back());
  double width = least;
  for (double away = 0; away < far; width *= growth) all.push_back(places.back() + (away += width));
  width = least;
  for (double away = 0; away < far; width *= growth)
    all.insert(all.begin(), places.front() - (away += width));
  return all;
}

/// Downwards from 0, with faces at the interfaces.
std::vector<double> layered_faces(const std::vector<double>& interfaces, double least, double growth,
                                  double far) {
  std::vector<double> all{0};
  double width = least, top = 0;
  for (const double depth : interfaces) {
    const auto cells = std::ceil((depth - top) / width);
    for (double n = 1; n <= cells; ++n) all.push_back(-(top + (depth - top) * n / cells));
    top = depth;
    width = least * 2;
  }
  for (; top < far; width *= growth) all.push_back(-(top += width));
  std::reverse(all.begin(), all.end());
  return all;
}

struct Layered {
  std::vector<double> interfaces, along, up;  // m, ohm m
};

const std::map<std::string, Layered> earths{
    {"two_layer_100_10_h5", {{5}, {100, 10}, {100, 10}}},
    {"two_layer_10_1000_h5", {{5}, {10, 1000}, {10, 1000}}},
    {"three_layer_100_10_500_h5_20", {{5, 25}, {100, 10, 500}, {100, 10, 500}}},
    {"two_layer_vti_100h_400v_10_h5", {{5}, {100, 10}, {400, 10}}},
};

/// A, B, M, N along the line.
std::vector<double> electrodes_of(const std::string& array, double spacing, double second) {
  if (array == "wenner") return {-1.5 * spacing, 1.5 * spacing, -0.5 * spacing, 0.5 * spacing};
  if (array == "schlumberger") return {-spacing, spacing, -second, second};
  return {spacing, 0, (1 + second) * spacing, (2 + second) * spacing};  // dipole-dipole
}

/// Of growth: how much wider each cell is than its neighbour; the smallest are fine as that asks for.
double relative_error(const test::Row& row, double growth) {
  const auto& earth = earths.at(row.text("model"));
  const double spacing = row("spacing_m"),
               second = row.text("second_spacing_m").empty() ? 0 : row("second_spacing_m");
  const auto along = electrodes_of(row.text("array"), spacing, second);
  const auto [first, last] = std::minmax_element(along.begin(), along.end());
  const double reach = *last - *first, far = 30 * reach + 1500;
  const double least = growth > 1.25  ? std::min(1.0, reach / 12)
                       : growth > 1.1 ? std::min(0.6, reach / 16)
                                      : std::min(0.45, reach / 16);
  const TensorMesh mesh(
      fine_at(along, least, growth, far), fine_at({0}, least, growth, far),
      layered_faces(earth.interfaces, std::min(least, growth > 1.15 ? 0.5 : 0.35), growth, far));
  std::vector<double> level, up;
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) {
    const auto p = mesh.prism(cell);
    const auto layer = static_cast<std::size_t>(
        std::count_if(earth.interfaces.begin(), earth.interfaces.end(),
                      [&](double depth) { return (p.bottom + p.top) / 2 < -depth; }));
    level.push_back(1 / earth.along[layer]);
    up.push_back(1 / earth.up[layer]);
  }
  Electrodes electrodes{{}, {{0, 1, 2, 3}}};
  for (const double at : along) electrodes.place.push_back({at, 0, 0});
  Stream stream(Device{Device::Kind::cpu, -1});
  DirectCurrentReport report;
  const auto data = direct_current(mesh, {{&level, &level, earth.along == earth.up ? &level : &up}},
                                   electrodes, {}, stream, &report);
  EXPECT_TRUE(report.converged());
  return std::abs(data.apparent_resistivity[0] / row("apparent_resistivity_ohm_m") - 1);
}

/// Cells become finer until the array is right; with a few million of them, the finest, it must be.
void expect_all_rows(const std::string& earth) {
  const auto all = test::rows_of("dc_layered.csv");
  std::size_t done = 0;
  double worst = 0;
  for (const auto& row : all) {
    if (row.text("model") != earth) continue;
    double error = 1;
    for (const double growth : {1.3, 1.2, 1.12, 1.09})
      if (error > 0.005) error = relative_error(row, growth);
    EXPECT_LE(error, 0.005) << row.text("model") << " " << row.text("array") << " " << row.text("spacing_m")
                            << " " << row.text("second_spacing_m");
    worst = std::max(worst, error);
    ++done;
  }
  EXPECT_EQ(done, 48U);
  testing::Test::RecordProperty("worst", std::to_string(worst));
}

TEST(LongDirectCurrentReference, EveryArrayOverAConductorIsRightToHalfAPercent) {
  expect_all_rows("two_layer_100_10_h5");
}
TEST(LongDirectCurrentReference, EveryArrayOverAResistorIsRightToHalfAPercent) {
  expect_all_rows("two_layer_10_1000_h5");
}
TEST(LongDirectCurrentReference, EveryArrayOverThreeLayersIsRightToHalfAPercent) {
  expect_all_rows("three_layer_100_10_500_h5_20");
}
TEST(LongDirectCurrentReference, EveryArrayOverALayerThatConductsByDirectionIsRightToHalfAPercent) {
  expect_all_rows("two_layer_vti_100h_400v_10_h5");
}

}  // namespace
}  // namespace terrane::electric::reference
