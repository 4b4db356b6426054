#include "terrane/inversion/model/weights.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::inversion {

namespace {

std::size_t cells_of(const TensorMesh& mesh, std::span<const std::uint32_t> active) {
  return active.empty() ? mesh.size() : active.size();
}

std::size_t cell(std::span<const std::uint32_t> active, std::size_t c) {
  return active.empty() ? c : active[c];
}

/// Height of the ground in a cell.  ground: fraction of each cell of the mesh below the ground; empty: all 1
double top_of_rock(const TensorMesh& mesh, std::span<const double> ground, std::size_t at, std::size_t k) {
  const double share = ground.empty() ? 1 : ground[at];
  return share < 1 ? mesh.up()[k] + share * (mesh.up()[k + 1] - mesh.up()[k]) : mesh.up()[k + 1];
}

/// Height of the ground in each column of cells, m: in the column's highest active cell.
std::vector<double> tops(const TensorMesh& mesh, std::span<const std::uint32_t> active,
                         std::span<const double> ground) {
  const std::size_t columns = mesh.n_east() * mesh.n_north();
  std::vector<double> top(columns, mesh.up().front());
  for (std::size_t c = 0; c < cells_of(mesh, active); ++c) {
    const std::size_t at = cell(active, c);
    top[at % columns] = std::max(top[at % columns], top_of_rock(mesh, ground, at, at / columns));
  }
  return top;
}

void divide_by_maximum(std::vector<double>& w) {
  const double most = *std::max_element(w.begin(), w.end());
  for (double& value : w) value /= most;
}

}  // namespace

std::vector<double> depth_weights(const TensorMesh& mesh, std::span<const std::uint32_t> active, double z0,
                                  double exponent, std::span<const double> ground) {
  if (!(z0 > 0)) throw InputError("inversion.z0", "it must be above zero");
  const auto top = tops(mesh, active, ground);
  const std::size_t columns = top.size();
  std::vector<double> w(cells_of(mesh, active));
  for (std::size_t c = 0; c < w.size(); ++c) {
    const std::size_t at = cell(active, c), k = at / columns;
    const double near = top[at % columns] - top_of_rock(mesh, ground, at, k) + z0,
                 far = top[at % columns] - mesh.up()[k] + z0;
    const double integral =
        exponent == 1 ? std::log(far / near)
                      : (std::pow(near, 1 - exponent) - std::pow(far, 1 - exponent)) / (exponent - 1);
    w[c] = std::sqrt(integral / (far - near));
  }
  divide_by_maximum(w);
  return w;
}

double fit_z0(const TensorMesh& mesh, std::span<const std::uint32_t> active, std::span<const double> row,
              double easting, double northing, double exponent, std::span<const double> ground) {
  const auto index = [](const std::vector<double>& faces, double x) {
    const auto above = std::upper_bound(faces.begin(), faces.end(), x) - faces.begin();
    return static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(above - 1, 0, static_cast<std::ptrdiff_t>(faces.size()) - 2));
  };
  const std::size_t column =
      index(mesh.easting(), easting) + mesh.n_east() * index(mesh.northing(), northing);
  const std::size_t columns = mesh.n_east() * mesh.n_north();
  const double top = tops(mesh, active, ground)[column];
  std::vector<double> depth, decay;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const std::size_t at = cell(active, c), k = at / columns;
    if (at % columns != column || row[c] == 0) continue;
    depth.push_back(top - 0.5 * (mesh.up()[k] + top_of_rock(mesh, ground, at, k)));
    decay.push_back(
        std::log(std::fabs(row[c]) / (mesh.prism(at).volume() * (ground.empty() ? 1 : ground[at]))));
  }
  const double thickness = mesh.up().back() - mesh.up().front();
  if (depth.size() < 2) return 0.1 * thickness;
  const auto misfit = [&](double log_z0) {
    double mean = 0, squares = 0;
    std::vector<double> rest(depth.size());
    for (std::size_t i = 0; i < depth.size(); ++i)
      mean += rest[i] = decay[i] + exponent * std::log(depth[i] + std::exp(log_z0));
    mean /= static_cast<double>(depth.size());
    for (const double r : rest) squares += (r - mean) * (r - mean);
    return squares;
  };
  // Golden section for ln z₀, between 1e-6 and 10 times the thickness of the mesh.
  const double golden = 0.5 * (std::sqrt(5.0) - 1);
  double low = std::log(1e-6 * thickness), high = std::log(10 * thickness);
  for (int i = 0; i < 80; ++i) {
    const double a = high - golden * (high - low), b = low + golden * (high - low);
    if (misfit(a) < misfit(b)) high = b;
    else low = a;
  }
  return std::exp(0.5 * (low + high));
}

std::vector<double> distance_weights(const TensorMesh& mesh, std::span<const std::uint32_t> active,
                                     const Points& stations, double exponent, int threads) {
  double narrowest = INFINITY;
  for (const auto* faces : {&mesh.easting(), &mesh.northing(), &mesh.up()})
    for (std::size_t i = 0; i + 1 < faces->size(); ++i)
      narrowest = std::min(narrowest, (*faces)[i + 1] - (*faces)[i]);
  const double r0 = narrowest / 4, gauss = 0.5 / std::sqrt(3.0);
  std::vector<double> w(cells_of(mesh, active));
  constexpr std::size_t a_task = 256;
  // The mean of (R+R₀)^−a over a box (R: distance from station s, R₀: r0, a: exponent), with 2³ Gauss points
  // in each of cuts³ equal parts of the box.
  const auto mean = [&](const Prism& p, std::size_t s, int cuts) {
    double sum = 0;
    const double size[3] = {(p.east - p.west) / cuts, (p.north - p.south) / cuts, (p.top - p.bottom) / cuts};
    for (int part = 0; part < cuts * cuts * cuts; ++part)
      for (int corner = 0; corner < 8; ++corner) {
        const int at[3] = {part % cuts, part / cuts % cuts, part / (cuts * cuts)};
        double x[3];
        for (int a = 0; a < 3; ++a)
          x[a] = size[a] * (at[a] + 0.5 + ((corner >> a & 1) != 0 ? gauss : -gauss));
        const double de = p.west + x[0] - stations.easting[s], dn = p.south + x[1] - stations.northing[s],
                     du = p.bottom + x[2] - stations.up[s];
        sum += std::pow(std::sqrt(de * de + dn * dn + du * du) + r0, -exponent);
      }
    return sum / (8 * cuts * cuts * cuts);
  };
  for_each((w.size() + a_task - 1) / a_task, threads, [&](std::size_t task) {
    for (std::size_t c = task * a_task; c < std::min((task + 1) * a_task, w.size()); ++c) {
      const Prism p = mesh.prism(cell(active, c));
      const double side = std::max({p.east - p.west, p.north - p.south, p.top - p.bottom});
      double sum = 0;
      for (std::size_t s = 0; s < stations.size(); ++s) {
        const double de = 0.5 * (p.west + p.east) - stations.easting[s],
                     dn = 0.5 * (p.south + p.north) - stations.northing[s],
                     du = 0.5 * (p.bottom + p.top) - stations.up[s];
        const double q = mean(p, s, de * de + dn * dn + du * du < side * side ? 2 : 1);
        sum += q * q;
      }
      w[c] = std::sqrt(std::sqrt(sum));
    }
  });
  divide_by_maximum(w);
  return w;
}

std::vector<double> sensitivity_per_volume(const solve::LinearOperator& g, std::span<const double> weight,
                                           std::span<const double> volume) {
  std::vector<double> squares(weight.begin(), weight.end()), s(g.columns());
  for (double& value : squares) value *= value;
  g.weighted_diagonal(squares, s);
  for (std::size_t c = volume.size(); c < s.size(); ++c) s[c % volume.size()] += s[c];
  s.resize(volume.size());
  for (std::size_t c = 0; c < s.size(); ++c) s[c] = std::sqrt(s[c]) / volume[c];
  const double most = s.empty() ? 0 : *std::max_element(s.begin(), s.end());
  if (most > 0)
    for (double& value : s) value /= most;
  return s;
}

std::vector<double> sensitivity_weights(const solve::LinearOperator& g, std::span<const double> weight,
                                        std::span<const double> volume, double floor) {
  auto w = sensitivity_per_volume(g, weight, volume);
  if (std::all_of(w.begin(), w.end(), [](double value) { return value == 0; }))
    throw InputError("inversion.weighting", "no datum is sensitive to any cell");
  for (double& value : w) value = std::sqrt(std::max(value, floor));
  return w;
}

}  // namespace terrane::inversion
