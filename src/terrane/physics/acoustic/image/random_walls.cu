#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/threads/for_each_box.hpp"
#include "terrane/physics/acoustic/image/random_walls.hpp"

namespace terrane::acoustic {

namespace {

template <class T>
struct CopyShifted {
  View<const T, 3> from;
  View<T, 3> to;
  Index shift[3];
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    to(k, j, i) = from(k + shift[0], j + shift[1], i + shift[2]);
  }
};

/// The largest magnitude of every n-th value, where n is the size of `largest`; NaN if any of these is NaN.
template <class T>
struct Largest {
  View<const T> field;
  View<T> largest;
  TERRANE_FN void operator()(std::size_t first) const {
    T most = 0;
    for (std::size_t n = first; n < field.size; n += largest.size) {
      const T size = field[n] < 0 ? -field[n] : field[n];
      if (size > most || size != size) most = size;
    }
    largest[first] = most;
  }
};

/// The random number between 0 and 1 of one cube of the walls (hashed like splitmix64).
double chance_of(std::uint64_t seed, const std::array<Index, 3>& cube) {
  std::uint64_t state = seed;
  for (const Index n : cube) {
    state += 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(n);
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebULL;
    state ^= state >> 31;
  }
  return static_cast<double>(state >> 11) / static_cast<double>(1ULL << 53);
}

/// The seed of a shot's walls, different for each position of the shot's first source.
std::uint64_t seed_of(const Shot& shot) {
  std::uint64_t seed = 14695981039346656037ULL;
  for (const double x : shot.sources.front()) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    seed = (seed ^ bits) * 1099511628211ULL;
  }
  return seed;
}

/// Thickness of the walls, nodes: at least that of any absorbing layer plus the nodes between it and the
/// mesh. A rank may have only such nodes; it then gets nodes of a wall instead.
Index thickness(const Problem& p, const RandomWalls& walls) {
  Index most = walls.points;
  for (const int axis : {up, north, east})
    for (const int side : {0, 1}) most = std::max(most, p.margin(axis, side));
  return most;
}

bool absorbs(Boundary side) { return side == Boundary::cpml || side == Boundary::sponge; }

/// The ranks' parts of the mesh with its walls: each rank keeps its nodes of the mesh; ranks at the ends of
/// the mesh also have the walls.  below: number of nodes added before the first, on each axis
Cartesian<3> cut_with_walls(const Cartesian<3>& cut, const std::array<Index, 3>& below,
                            const IndexBox<3>& whole) {
  auto walled = cut;
  walled.whole = whole;
  for (auto& part : walled.parts)
    for (int a = 0; a < 3; ++a) {
      const Index shift = below[static_cast<std::size_t>(a)];
      part.first[a] = part.first[a] == cut.whole.first[a] ? whole.first[a] : part.first[a] + shift;
      part.last[a] = part.last[a] == cut.whole.last[a] ? whole.last[a] : part.last[a] + shift;
    }
  return walled;
}

std::array<Index, 3> nodes_below(const Problem& problem) {
  auto walled = without_medium(problem);
  return make_room_for_walls(walled);
}

template <class T>
class RandomWallHistory final : public History<T> {
 public:
  RandomWallHistory(Stream& stream, Comm& comm, const Problem& problem, const Cartesian<3>& cut, int rank,
                    const Shot& shot, const std::vector<double>& series)
      : comm_(comm),
        shift_(nodes_below(problem)),
        problem_(with_random_walls(problem, seed_of(shot))),
        medium_(problem_, stream, cut_with_walls(cut, shift_, problem_.grid.box()), rank),
        wave_(stream, medium_, comm),
        sources_(stream, medium_, pressure_at(shot.sources), scales_of(problem, shot)),
        clock_(stream, 0),
        mesh_(overlap(cut.part(rank), problem.grid.box())),
        slots_(stream.device(), static_cast<std::size_t>(3 * medium_.fields() * mesh_.count())),
        largest_(stream.device(), 1 << 16),
        steps_(static_cast<Index>(problem.steps())),
        next_(steps_) {
    sources_.send(stream, problem.steps(), series);
    double largest = 0, scale = 0;
    for (const double s : series) largest = std::max(largest, std::abs(s));
    for (const double s : scales_of(problem, shot)) scale = std::max(scale, s);
    if (problem.equation == Equation::variable_density)  // the source's term is divided by ρ at the source,
                                                         // and multiplied by ρv²Δt² at a node
      scale *= *std::max_element(problem.density.begin(), problem.density.end());
    const double v = problem.fastest();
    // Estimate of the largest pressure: sixteen times the term that the source adds to p⁺ at its node in a
    // step. If it is too low, the loop below repeats the run with a larger rounding unit.
    const double added = 16 * largest * v * v * problem.step * problem.step * scale;
    double grain = std::exp2(std::ceil(std::log2(std::max(added, 1e-300))) - (bits - 3));
    while (!ran(stream, grain)) {
      grain *= 16;
      if (!(std::ldexp(grain, bits) < static_cast<double>(std::numeric_limits<T>::max())))
        throw Error(
            "acoustic", "the waves grew beyond all bounds",
            "This should not happen with a stable step; run the job in double precision and report it.");
    }
  }
  void keep(Stream&, const Wave<T>&, Index) override {}
  void prepare(Stream& stream, Index n) override {
    if (next_ == steps_) {  // the wave has p at steps − 1 and steps − 2
      for (int field = 0; field < medium_.fields(); ++field) {
        take(stream, steps_ - 1, field, wave_.now(field));
        take(stream, steps_ - 2, field, wave_.before(field));
      }
      wave_.turn();
      clock_.set(stream, steps_ - 2);
      next_ = steps_ - 3;
    }
    while (next_ >= n - 1) {
      wave_.step(stream, &sources_, clock_);
      clock_.tick(stream, -1);
      for (int field = 0; field < medium_.fields(); ++field) take(stream, next_, field, wave_.now(field));
      --next_;
    }
  }
  View<const T, 3> at(Index n, int field) const override { return slot(n, field); }

 private:
  static constexpr int bits = std::numeric_limits<T>::digits - 1;  // stored bits of a mantissa: 23 or 52
  static constexpr Index between_looks = 16;

  static std::vector<double> scales_of(const Problem& problem, const Shot& shot) {
    std::vector<double> scales;
    for (const auto& at : shot.sources) scales.push_back(problem.source_factor(at) / problem.grid.volume());
    return scales;
  }
  View<T, 3> slot(Index n, int field) const {
    const Index which = (n + 3) % 3 * medium_.fields() + field;
    return mesh_.empty() ? View<T, 3>()
                         : View<T, 3>(const_cast<T*>(slots_.view().data) + which * mesh_.count(), mesh_);
  }
  void take(Stream& stream, Index n, int field, View<const T, 3> from) {
    if (!mesh_.empty())
      for_each(stream, mesh_, CopyShifted<T>{from, slot(n, field), {shift_[0], shift_[1], shift_[2]}});
  }

  /// Collective: computes all steps forwards; false if a pressure becomes too large for the rounding unit
  /// `grain`.
  bool ran(Stream& stream, double grain) {
    wave_.rest(stream);
    wave_.round_to(static_cast<T>(1.5 * std::ldexp(grain, bits)));
    clock_.set(stream, 0);
    for (Index n = 0; n + 1 < steps_; ++n) {
      wave_.step(stream, &sources_, clock_);
      clock_.tick(stream, 1);
      // Pressures are checked often until the wave has left the source, then rarely.
      if (n % (n < 512 ? between_looks : 8 * between_looks) != 0 && n + 2 != steps_) continue;
      wave_.wait(stream);
      bool fine = true;
      for (int field = 0; field < medium_.fields(); ++field)
        fine = fine && largest(stream, field) < std::ldexp(grain, bits - 3);
      if (comm_.lowest(fine ? 1 : 0) == 0) return false;
    }
    return true;
  }

  /// The largest magnitude of a field; computed on the device, because a copy of a field to the host would
  /// take longer than a step.
  double largest(Stream& stream, int field) {
    for_each(stream, largest_.size(), Largest<T>{wave_.buffer(field).view(), largest_.view()});
    std::vector<T> found(largest_.size());
    largest_.download(stream, found);
    T most = 0;
    for (const T size : found)
      if (size > most || size != size) most = size;
    return static_cast<double>(most);
  }

  Comm& comm_;
  std::array<Index, 3> shift_;
  Problem problem_;
  Medium<T> medium_;
  Wave<T> wave_;
  Sources<T> sources_;
  Clock clock_;
  IndexBox<3> mesh_;
  Buffer<T> slots_, largest_;
  Index steps_, next_;
};

}  // namespace

std::array<Index, 3> make_room_for_walls(Problem& p, const RandomWalls& walls) {
  std::array<Index, 3> below{};
  const Index thick = thickness(p, walls);
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    if (!p.grid.there(axis)) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      if (!absorbs(p.sides[a][side])) continue;
      p.sides[a][side] = Boundary::wall;
      p.grid.nodes[a] += thick;
      if (side == 0) {
        below[a] = thick;
        p.grid.first[a] -= static_cast<double>(thick) * p.grid.spacing[a];
      }
    }
  }
  return below;
}

Problem with_random_walls(const Problem& problem, std::uint64_t seed, const RandomWalls& walls) {
  Problem p = problem;
  const auto below = make_room_for_walls(p, walls);
  const auto box = p.grid.box(), mesh = problem.grid.box();
  const Index thick = thickness(problem, walls);
  const auto nodes = static_cast<std::size_t>(box.count());
  p.velocity.resize(nodes);
  // Properties other than the velocity are continued beyond the mesh by the values at its sides.
  using Values = std::vector<double> Problem::*;
  std::vector<Values> others;
  for (const Values values :
       {&Problem::density, &Problem::epsilon, &Problem::delta, &Problem::tilt, &Problem::azimuth})
    if (!(problem.*values).empty()) others.push_back(values), (p.*values).resize(nodes);
  for_each(box, 0, [&](Index k, Index j, Index i) {
    const std::array<Index, 3> at{k - below[0], j - below[1], i - below[2]};
    std::array<Index, 3> inside{}, cube{};
    Index deep = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      inside[a] = std::clamp<Index>(at[a], 0, mesh.last[a] - 1);
      deep = std::max(deep, std::abs(at[a] - inside[a]));
      // The positions of the cubes differ from shot to shot, too.
      const auto offset = static_cast<Index>((seed >> (8 * a)) % static_cast<std::uint64_t>(walls.grain));
      cube[a] = (at[a] + thick + offset) / walls.grain;
    }
    const auto from = static_cast<std::size_t>((inside[0] * mesh.size(1) + inside[1]) * mesh.size(2) +
                                               inside[2]),
               to = static_cast<std::size_t>((k * box.size(1) + j) * box.size(2) + i);
    const double v = problem.velocity[from];
    const double t = static_cast<double>(deep) / static_cast<double>(thick);
    p.velocity[to] = deep == 0 ? v : v * (1 - walls.slower * t * chance_of(seed, cube));
    for (const Values values : others) (p.*values)[to] = (problem.*values)[from];
  });
  return p;
}

template <class T>
std::unique_ptr<History<T>> make_random_walls(Stream& stream, Comm& comm, const Problem& problem,
                                              const Cartesian<3>& cut, const Shot& shot,
                                              const std::vector<double>& series) {
  return std::make_unique<RandomWallHistory<T>>(stream, comm, problem, cut, comm.rank(), shot, series);
}

template std::unique_ptr<History<float>> make_random_walls(Stream&, Comm&, const Problem&,
                                                           const Cartesian<3>&, const Shot&,
                                                           const std::vector<double>&);
template std::unique_ptr<History<double>> make_random_walls(Stream&, Comm&, const Problem&,
                                                            const Cartesian<3>&, const Shot&,
                                                            const std::vector<double>&);

}  // namespace terrane::acoustic
