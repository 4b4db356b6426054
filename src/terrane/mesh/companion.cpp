// Order of this file: kept faces; the cells between them; cells appended outside; finer cells; means.
#include "terrane/mesh/companion.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>

#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane {

namespace {

bool differ(double one, double other) {
  if (std::isnan(one) || std::isnan(other)) return std::isnan(one) != std::isnan(other);
  return std::abs(one - other) > 1e-6 * std::max(std::abs(one), std::abs(other));
}

/// Of three or more faces with changes in a row, keeps every second one, beginning with the first.
void thin_out(std::vector<bool>& changes) {
  for (std::size_t n = 0; n < changes.size();) {
    if (!changes[n]) {
      ++n;
      continue;
    }
    std::size_t end = n;
    while (end < changes.size() && changes[end]) ++end;
    for (std::size_t m = n; end - n > 2 && m < end; ++m) changes[m] = (m - n) % 2 == 0;
    n = end;
  }
}

/// Keeps the faces at `places`, except those next to a face that is already kept: at least two cells must lie
/// between kept faces.
void keep_places(const std::vector<double>& faces, std::vector<double> places, std::vector<bool>& kept) {
  std::sort(places.begin(), places.end());
  for (const double place : places) {
    const auto above =
        static_cast<std::size_t>(std::lower_bound(faces.begin(), faces.end(), place) - faces.begin());
    for (const std::size_t n : {above - 1, above}) {
      if (n >= faces.size() || n < 2 || n + 2 >= faces.size()) continue;
      const double width = std::min(faces[n] - faces[n - 1], faces[n + 1] - faces[n]);
      if (std::abs(faces[n] - place) < 1e-6 * width && !kept[n - 1] && !kept[n + 1]) kept[n] = true;
    }
  }
}

/// If fewer than four cells lie between two neighbouring `places`, keeps all faces of these cells.
void keep_between(const std::vector<double>& faces, std::vector<double> places, std::vector<bool>& kept) {
  std::sort(places.begin(), places.end());
  const auto next_face = [&](double place) {
    const auto width = (faces.back() - faces.front()) * 1e-9;
    return static_cast<std::size_t>(std::lower_bound(faces.begin(), faces.end(), place - width) -
                                    faces.begin());
  };
  for (std::size_t n = 1; n < places.size(); ++n) {
    const std::size_t from = next_face(places[n - 1]), to = std::min(next_face(places[n]), faces.size() - 1);
    for (std::size_t face = from; from < to && to < from + 4 && face <= to; ++face) kept[face] = true;
  }
}

/// The coordinate at a (fractional) number of cells from the lowest face: 1.5 is the middle of the second
/// cell.
double place_of(const std::vector<double>& faces, double count) {
  const auto cell = std::min(static_cast<std::size_t>(count), faces.size() - 2);
  return faces[cell] + (count - static_cast<double>(cell)) * (faces[cell + 1] - faces[cell]);
}

/// Limits of the growth factor of cells appended beyond a wall. Cells of companions grow fast, because they
/// need only show what a wall that is farther away changes.
struct Growth {
  double least, most;
};
constexpr Growth of_companions{2.25, 2.25}, of_finer{1.3, 1.5};

/// Widths of the cells appended beyond a wall, from the wall outwards, m.  last: width of the mesh's
/// outermost cell; before: width of its inner neighbour; away: distance from the wall to the survey, m
std::vector<double> beyond(double last, double before, double away, const Growth& limits) {
  const double growth = std::clamp(last / before, limits.least, limits.most);
  std::vector<double> widths;
  for (double sum = 0; sum < away * (1 - 1e-9);) sum += widths.emplace_back(last *= growth);
  return widths;
}

struct Axis {
  std::vector<double> faces;
  std::vector<Companion::Parts> parts;
};

Axis coarser(const std::vector<double>& faces, const std::vector<bool>& kept) {
  Axis axis{{faces.front()}, {}};
  for (std::size_t from = 0, to = 1; to < faces.size(); ++to) {
    if (!kept[to] && to + 1 < faces.size()) continue;
    const auto cells = to - from, pieces = (cells + 1) / 2;
    for (std::size_t n = 0; n < pieces; ++n) {
      const double low = static_cast<double>(from * pieces + cells * n) / static_cast<double>(pieces),
                   high = static_cast<double>(from * pieces + cells * (n + 1)) / static_cast<double>(pieces);
      axis.faces.push_back(n + 1 == pieces ? faces[to] : place_of(faces, high));
      const double width = axis.faces.back() - *(axis.faces.end() - 2);
      Companion::Parts parts;
      for (auto cell = static_cast<std::size_t>(low); static_cast<double>(cell) < high; ++cell) {
        const double begin = std::max(low, static_cast<double>(cell)),
                     end = std::min(high, static_cast<double>(cell + 1));
        parts.emplace_back(cell, (end - begin) * (faces[cell + 1] - faces[cell]) / width);
      }
      axis.parts.push_back(std::move(parts));
    }
    from = to;
  }
  return axis;
}

void append(const std::vector<double>& places, std::array<bool, 2> goes_on, std::size_t last,
            const Growth& growth, Axis& axis) {
  const auto of = [](const std::vector<double>& f, std::size_t n) { return f[n + 1] - f[n]; };
  const double half = (axis.faces.back() - axis.faces.front()) / 2;
  const auto [least, most] = std::minmax_element(places.begin(), places.end());
  const double low = places.empty() ? half : *least - axis.faces.front(),
               high = places.empty() ? half : axis.faces.back() - *most;
  const std::size_t cells = axis.faces.size() - 1;
  if (goes_on[1])
    for (const double width :
         beyond(of(axis.faces, cells - 1), of(axis.faces, cells > 1 ? cells - 2 : cells - 1),
                std::max(high, 0.0), growth)) {
      axis.faces.push_back(axis.faces.back() + width);
      axis.parts.push_back({{last, 1.0}});
    }
  if (goes_on[0])
    for (const double width :
         beyond(of(axis.faces, 0), of(axis.faces, cells > 1 ? 1 : 0), std::max(low, 0.0), growth)) {
      axis.faces.insert(axis.faces.begin(), axis.faces.front() - width);
      axis.parts.insert(axis.parts.begin(), Companion::Parts{{0, 1.0}});
    }
}

/// Appends the faces that divide [x₀, xₙ], n cells, into `pieces` cells: x is interpolated as a smooth
/// function of the cell number, cubic between faces; its slopes are harmonic means of neighbouring widths,
/// which keep it monotonic.
void cut(std::span<const double> x, std::size_t pieces, std::vector<double>& faces) {
  const std::size_t cells = x.size() - 1;
  const auto width = [&](std::size_t n) { return x[n + 1] - x[n]; };
  const auto slope = [&](std::size_t n) {
    if (cells == 1) return width(0);
    if (n == 0) return width(0) * std::min(2.0, std::sqrt(width(0) / width(1)));
    if (n == cells) return width(n - 1) * std::min(2.0, std::sqrt(width(n - 1) / width(n - 2)));
    return 2 * width(n - 1) * width(n) / (width(n - 1) + width(n));
  };
  for (std::size_t piece = 1; piece < pieces; ++piece) {
    const double count = static_cast<double>(cells * piece) / static_cast<double>(pieces);
    const auto n = std::min(static_cast<std::size_t>(count), cells - 1);
    const double t = count - static_cast<double>(n), left = 1 - t;
    faces.push_back(x[n] + t * t * (3 - 2 * t) * width(n) + t * left * left * slope(n) -
                    t * t * left * slope(n + 1));
  }
  faces.push_back(x.back());
}

std::vector<double> finer(const std::vector<double>& faces, const std::vector<bool>& kept, double factor) {
  std::vector<double> made{faces.front()};
  for (std::size_t from = 0, to = 1; to < faces.size(); ++to) {
    if (!kept[to] && to + 1 < faces.size()) continue;
    const auto cells = to - from;
    const auto pieces = static_cast<std::size_t>(std::lround(static_cast<double>(cells) / factor));
    cut(std::span(faces).subspan(from, cells + 1), std::max(pieces, std::min<std::size_t>(cells, 2)), made);
    from = to;
  }
  return made;
}

}  // namespace

std::vector<bool> changes_along(std::size_t axis, const TensorMesh& mesh,
                                std::span<const std::vector<double>* const> rock) {
  const std::size_t cells[3] = {mesh.n_east(), mesh.n_north(), mesh.n_up()};
  const std::size_t step[3] = {1, cells[0], cells[0] * cells[1]};
  std::vector<std::uint8_t> changes(cells[axis] + 1, 0);
  for (const auto* values : rock)
    for_each_stretch(values->size(), 0, [&](std::size_t first, std::size_t last) {
      for (std::size_t cell = first; cell < last; ++cell) {
        const std::size_t n = cell / step[axis] % cells[axis];
        const std::atomic_ref known(changes[n]);
        if (n > 0 && known.load(std::memory_order_relaxed) == 0 &&
            differ((*values)[cell], (*values)[cell - step[axis]]))
          known.store(1, std::memory_order_relaxed);
      }
    });
  return {changes.begin(), changes.end()};
}

CompanionWish CompanionWish::with_its_walls() const {
  auto wish = *this;
  wish.goes_on = {};
  return wish;
}

TensorMesh finer_mesh(const TensorMesh& mesh, std::span<const std::vector<double>* const> rock,
                      const CompanionWish& wish, const std::array<double, 3>& factor, KeptFaces keeps) {
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  std::array<std::vector<double>, 3> made;
  for (std::size_t a = 0; a < 3; ++a) {
    auto kept = changes_along(a, mesh, rock);
    if (keeps == KeptFaces::every_second) thin_out(kept);
    keep_places(*faces[a], wish.places[a], kept);
    Axis axis{finer(*faces[a], kept, factor[a]), {}};
    append(wish.places[a], wish.goes_on[a], 0, of_finer, axis);
    made[a] = std::move(axis.faces);
  }
  return TensorMesh(std::move(made[0]), std::move(made[1]), std::move(made[2]));
}

std::vector<double> values_on(const TensorMesh& other, const TensorMesh& mesh,
                              const std::vector<double>& values) {
  std::vector<double> all;
  if (values.empty()) return all;
  const std::vector<double>* from[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  const std::vector<double>* to[3] = {&other.easting(), &other.northing(), &other.up()};
  std::array<std::vector<std::size_t>, 3> cells;  // [axis][cells of `other`]: index of the cell of `mesh`
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t n = 1; n < to[a]->size(); ++n) {
      const double centre = ((*to[a])[n - 1] + (*to[a])[n]) / 2;
      const auto above = std::upper_bound(from[a]->begin() + 1, from[a]->end() - 1, centre);
      cells[a].push_back(static_cast<std::size_t>(above - from[a]->begin()) - 1);
    }
  all = filled(other.size(), 0.0);
  for_each(cells[2].size() * cells[1].size(), 0, [&](std::size_t row) {
    const auto j = cells[1][row % cells[1].size()], k = cells[2][row / cells[1].size()];
    auto next = row * cells[0].size();
    for (const auto i : cells[0]) all[next++] = values[mesh.index(i, j, k)];
  });
  return all;
}

Companion::Companion(const TensorMesh& mesh, std::span<const std::vector<double>* const> rock,
                     const CompanionWish& wish)
    : of_{mesh.n_east(), mesh.n_north()} {
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  std::array<std::vector<double>, 3> made;
  for (std::size_t a = 0; a < 3; ++a) {
    auto kept = changes_along(a, mesh, rock);
    thin_out(kept);
    keep_places(*faces[a], wish.places[a], kept);
    if (wish.two_between[a]) keep_between(*faces[a], wish.places[a], kept);
    if (!wish.coarser[a]) kept.assign(kept.size(), true);
    auto axis = coarser(*faces[a], kept);
    append(wish.places[a], wish.goes_on[a], faces[a]->size() - 2, of_companions, axis);
    made[a] = std::move(axis.faces);
    parts_[a] = std::move(axis.parts);
  }
  mesh_ = TensorMesh(std::move(made[0]), std::move(made[1]), std::move(made[2]));
}

template <class Read>
double Companion::folded_at(std::size_t cell_of_companion, const std::vector<double>& values,
                            const std::vector<double>& weight, const Read& read,
                            double (*write)(double)) const {
  const auto [i_there, j_there, k_there] = mesh_.cell(cell_of_companion);
  double sum = 0, weights = 0, first = std::numeric_limits<double>::quiet_NaN();
  bool alike = true;
  for (const auto& [k, up] : parts_[2][k_there])
    for (const auto& [j, north] : parts_[1][j_there])
      for (const auto& [i, east] : parts_[0][i_there]) {
        const std::size_t cell = i + of_[0] * (j + of_[1] * k);
        const double share = up * north * east * (weight.empty() ? 1 : weight[cell]);
        if (!(share > 0) || std::isnan(values[cell])) continue;
        if (weights == 0) first = values[cell];
        alike = alike && values[cell] == first;
        sum += share * read(values[cell]);
        weights += share;
      }
  return alike ? first : write(sum / weights);
}

template <class Read>
std::vector<double> Companion::folded(const std::vector<double>& values, const std::vector<double>& weight,
                                      const Read& read, double (*write)(double)) const {
  if (values.empty()) return {};
  auto all = filled(mesh_.size(), 0.0);
  for_each_stretch(
      all.size(), 0,
      [&](std::size_t first, std::size_t last) {
        for (auto cell = first; cell < last; ++cell) all[cell] = folded_at(cell, values, weight, read, write);
      },
      1 << 12);
  return all;
}

std::vector<double> Companion::mean(const std::vector<double>& values,
                                    const std::vector<double>& weight) const {
  return folded(
      values, weight, [](double value) { return value; }, [](double mean) { return mean; });
}

std::vector<double> Companion::geometric_mean(const std::vector<double>& values,
                                              const std::vector<double>& weight) const {
  return folded(
      values, weight, [](double value) { return std::log(value); },
      [](double mean) { return std::exp(mean); });
}

}  // namespace terrane
