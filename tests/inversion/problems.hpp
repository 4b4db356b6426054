// Three problems with answers computed elsewhere (tests/support/data/inversion): blocks below 20 × 20
// stations.
#pragma once

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "terrane/base/constants.hpp"
#include "terrane/inversion/loop/invert.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"

namespace terrane::inversion {

/// Columns of a CSV file by name; what is no number is NaN.
inline std::map<std::string, std::vector<double>> read_columns(const std::string& name) {
  const std::string path = std::string(TERRANE_SOURCE_DIR) + "/tests/support/data/inversion/" + name;
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::string line;
  std::getline(in, line);
  std::vector<std::string> names;
  std::stringstream head(line);
  for (std::string word; std::getline(head, word, ',');) names.push_back(word);
  std::map<std::string, std::vector<double>> columns;
  while (std::getline(in, line)) {
    std::stringstream row(line);
    std::string word;
    for (const auto& column : names) {
      std::getline(row, word, ',');
      char* end = nullptr;
      const double value = std::strtod(word.c_str(), &end);
      columns[column].push_back(end == word.c_str() ? NAN : value);
    }
  }
  return columns;
}

inline TensorMesh mesh_a() { return TensorMesh::regular({-500, 500, -500, 500, -500, 0}, {20, 20, 10}); }

inline TensorMesh mesh_b() {
  std::vector<double> widths{168.75, 112.5, 75};
  widths.insert(widths.end(), 16, 50.0);
  widths.insert(widths.end(), {75, 112.5, 168.75});
  double total = 0;
  for (const double w : widths) total += w;
  std::vector<double> x{-total / 2}, down{0};
  for (const double w : widths) x.push_back(x.back() + w);
  for (int k = 0; k < 14; ++k) down.push_back(down.back() - (k < 8 ? 25 : 25 * std::pow(1.25, k - 7)));
  return {x, x, {down.rbegin(), down.rend()}};
}

/// channels: data in mGal and eötvös, in that order.
inline Problem problem(TensorMesh mesh, const std::map<std::string, std::vector<double>>& data,
                       std::vector<std::string> columns = {"g_u_mgal"},
                       std::vector<std::uint32_t> active = {}) {
  Problem p;
  p.mesh = std::move(mesh);
  p.active = std::move(active);
  p.easting = data.at("x");
  p.northing = data.at("y");
  p.up.assign(p.easting.size(), 10.0);
  PrismSet cells;
  for (std::size_t c = 0; c < (p.active.empty() ? p.mesh.size() : p.active.size()); ++c)
    cells.push_back(p.mesh.prism(p.active.empty() ? c : p.active[c]));
  std::vector<gravity::Observable> observables;
  for (const auto& column : columns) {
    const bool gradient = column == "g_uu_eotvos";
    observables.push_back(gravity::Observable::of(gradient ? gravity::Channel::g_uu : gravity::Channel::g_u,
                                                  default_gravitational_constant * (gradient ? 1e9 : 1e5)));
    p.sets.push_back({gradient ? "g_uu" : "g_u", gradient ? "E" : "mGal", p.data.size(), p.easting.size()});
    const auto& d = data.at(column);
    const auto& s = data.at(data.contains("sigma") ? "sigma" : gradient ? "sigma_uu" : "sigma_g");
    p.data.insert(p.data.end(), d.begin(), d.end());
    p.sigma.insert(p.sigma.end(), s.begin(), s.end());
  }
  p.g = std::make_shared<solve::DenseOperator<double>>(gravity::SensitivityColumns(
      std::move(cells), {p.easting, p.northing, p.up}, std::move(observables), 1e-12));
  return p;
}

/// Depth weights of exponent 2 with z₀ = 25 m, lengths of 150 m; solved to all digits.
inline Settings reference_settings() {
  Settings s;
  s.alphas = Alphas::from_lengths({150, 150, 150});
  s.weighting = Weighting::depth;
  s.z0 = 25;
  s.tolerance = 1e-11;
  return s;
}

}  // namespace terrane::inversion
