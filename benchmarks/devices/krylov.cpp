// The measurements of Commer, Maia & Newman (2010), today: 1000 iterations of CG for direct current, of BiCG
// and QMR for electromagnetic fields, with the diagonal as preconditioner as they had it; CG over the
// compressed rows of a library; and what the multigrid preconditioners make of the same problems.
//
//   devices_krylov DEVICE THREADS SOLVER:CELLS:ITERATIONS[:EARTH[:HERTZ[:METRES]]] ...      prints JSON
//   devices_krylov operations      what an iteration of each method does, counted
//
// THREADS 0: all. ITERATIONS below zero: a whole solve to 1e-8, with no more than so many.
// SOLVER: cg, bicg (as COCG: A = Aᵀ, so the shadow residual is the residual itself), qmr; cg_eigen, by
// Eigen's sparse matrix where Eigen was found at compile time; cg_multigrid and bicg_multigrid: to 1e-8 with
// Terrane's preconditioners, or after ITERATIONS. CELLS: a side. EARTH, HERTZ, METRES: land, 1 and 100
// (support/krylov_case.hpp).
//
// Bytes per unknown and iteration, in the order of the loops (solve/krylov.hpp). CG, in double: A p 40, pᵀq
// 16, x and r 48, ‖r‖ 8, z = r/D 24, rᵀz 16, p 24: 176; on devices, which add up products on the way and
// leave z out, A p 40, x and r 56, p 32: 128. COCG, complex, with the divergence on the nodes that it
// carries: A p 45, pᵀq 32, x and r 112, ‖r‖ 16, z 40, rᵀz 32, p 48: 325; devices, without these products,
// 245. QMR: A p 45, pᵀq 32, r 64, ‖r‖ 16, d and x 96, z 40, rᵀz 32, p 48: 373, devices 309. CG on compressed
// rows: 12 for each of 7 non-zeros and 8 for where a row begins, in place of 24 of conductances: 244.
//
// memory_GB_per_s: of z = r/D alone, in the same run: what the memory gives.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "support/krylov_case.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"
#include "terrane/physics/electromagnetic/grid/maxwell.hpp"
#include "terrane/solve/multigrid/multigrid.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

#if __has_include(<eigen3/Eigen/SparseCore>)
#include <eigen3/Eigen/SparseCore>
#define TERRANE_HAS_EIGEN 1
#else
#define TERRANE_HAS_EIGEN 0
#endif

namespace terrane {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// User seconds of all threads of this process.
double processor_seconds() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec) + 1e-6 * static_cast<double>(used.ru_utime.tv_usec);
}

struct Span {
  double seconds = 1e300, processor = 1e300;
};

/// The shortest of some runs of `work`, after which `stream` has nothing left to do.
template <class Work>
Span shortest(Stream& stream, int runs, const Work& work) {
  Span best;
  for (int n = 0; n < runs; ++n) {
    stream.wait();
    const auto start = Clock::now();
    const double before = processor_seconds();
    work();
    stream.wait();
    best.seconds = std::min(best.seconds, seconds_since(start));
    best.processor = std::min(best.processor, processor_seconds() - before);
  }
  return best;
}

using Case = benchmarks::KrylovCase;

struct Timed {
  double unknowns = 0, setup = 0, bytes = 0, memory = 0;
  Span span;
  solve::SolveReport report;
};

/// So many iterations, or below zero a whole solve.
solve::Stopping stopping_of(int iterations) {
  const int most = std::abs(iterations);
  return {.relative = iterations < 0 ? 1e-8 : 0, .most_iterations = most, .patience = most + 1};
}

/// Whole solves run once.
int repeats(const Case& wanted) { return wanted.iterations < 0 ? 1 : 2; }

/// A grounded box of land with two poles under its surface.
struct Box {
  electric::HostNetwork host;
  solve::Network<double> network;
  solve::Field<double> b, x;

  Box(Stream& stream, const Case& wanted) {
    const auto earth = wanted.land();
    const auto& sigma = earth.sigma;
    host = electric::assemble(earth.mesh, {{&sigma, &sigma, &sigma}}, electric::Boundary::grounded, {});
    network = host.on(stream, host.nodes);
    b = solve::Field<double>(stream, host.nodes);
    x = solve::Field<double>(stream, host.nodes);
    b.upload(stream, poles(wanted.cells));
  }
  std::vector<double> poles(int cells) const {
    std::vector<double> values(static_cast<std::size_t>(host.nodes.count()), 0.0);
    const View<double, 3> at(values.data(), host.nodes);
    at(cells / 2 - 2, cells / 2, cells / 2 - 4) = 1;
    at(cells / 2 - 2, cells / 2, cells / 2 + 4) = -1;
    return values;
  }
};

Timed direct_current(Stream& stream, const Case& wanted) {
  Box box(stream, wanted);
  Timed timed;
  timed.unknowns = static_cast<double>(box.host.nodes.count());
  const auto diagonal = solve::jacobi(stream, box.network);
  timed.memory =
      24 * timed.unknowns / shortest(stream, 4, [&] { diagonal(stream, box.b, box.x, 1); }).seconds;
  const auto solved = [&](const auto& preconditioner, const solve::Stopping& stopping) {
    box.x.fill_zero(stream);
    timed.report = solve::conjugate_gradients(stream, box.network, box.b, box.x, preconditioner, stopping);
  };
  if (wanted.solver == "cg") {
    timed.bytes = stream.device().kind == Device::Kind::cpu ? 176 : 128;
    timed.span = shortest(stream, repeats(wanted), [&] { solved(diagonal, stopping_of(wanted.iterations)); });
    return timed;
  }
  const auto begin = Clock::now();
  solve::Multigrid<float> multigrid(stream, box.network, box.host.spacing);
  stream.wait();
  timed.setup = seconds_since(begin);
  timed.span = shortest(stream, 3, [&] {
    solved([&](Stream& s, const solve::Field<double>& r, solve::Field<double>& z,
               double scale) { multigrid.apply(s, r, z, scale); },
           {.most_iterations = std::abs(wanted.iterations)});
  });
  return timed;
}

#if TERRANE_HAS_EIGEN
/// The same iterations, written with Eigen's vectors and its sparse matrix by rows.
Timed with_eigen(Stream& stream, const Case& wanted) {
  using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
  Eigen::setNbThreads(stream.threads() > 0 ? stream.threads() : thread_count(0));
  const auto earth = wanted.land();
  const auto host = electric::assemble(earth.mesh, {{&earth.sigma, &earth.sigma, &earth.sigma}},
                                       electric::Boundary::grounded, {});
  const auto count = static_cast<Eigen::Index>(host.nodes.count());
  Matrix a(count, count);
  a.reserve(Eigen::VectorXi::Constant(count, 7));
  std::array<View<const double, 3>, 3> link;
  for (std::size_t x = 0; x < 3; ++x) link[x] = {host.link[x].data(), host.nodes.grown(1)};
  const Index n[3] = {host.nodes.size(0), host.nodes.size(1), host.nodes.size(2)};
  const Index step[3] = {n[1] * n[2], n[2], 1};
  Eigen::Index row = 0;
  for (Index k = 0; k < n[0]; ++k)
    for (Index j = 0; j < n[1]; ++j)
      for (Index i = 0; i < n[2]; ++i, ++row) {
        const Index at[3] = {k, j, i};
        double low[3], high[3], sum = 0;
        for (int x = 0; x < 3; ++x) {
          const auto& c = link[static_cast<std::size_t>(x)];
          low[x] = c(k, j, i);
          high[x] = c(k + (x == 0), j + (x == 1), i + (x == 2));
          sum += low[x] + high[x];
        }
        for (int x = 0; x < 3; ++x)
          if (at[x] > 0) a.insert(row, row - step[x]) = -low[x];
        a.insert(row, row) = sum;
        for (int x = 2; x >= 0; --x)
          if (at[x] + 1 < n[x]) a.insert(row, row + step[x]) = -high[x];
      }
  a.makeCompressed();
  const Eigen::VectorXd inverse = a.diagonal().cwiseInverse();
  Eigen::VectorXd b = Eigen::VectorXd::Zero(count);
  b[count / 2] = 1;
  Timed timed;
  timed.unknowns = static_cast<double>(count);
  timed.bytes = 244;
  timed.report.reason = solve::Reason::most_iterations;
  timed.report.iterations = wanted.iterations;
  timed.span = shortest(stream, 2, [&] {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(count), r = b, z = inverse.cwiseProduct(r), p = z, q(count);
    double rho = r.dot(z);
    for (int iteration = 0; iteration < wanted.iterations; ++iteration) {
      q.noalias() = a * p;
      const double alpha = rho / p.dot(q);
      x += alpha * p;
      r -= alpha * q;
      timed.report.residual = r.norm();
      z = inverse.cwiseProduct(r);
      const double next = r.dot(z);
      p = z + (next / rho) * p;
      rho = next;
    }
  });
  return timed;
}
#endif

Timed electromagnetic_fields(Stream& stream, const Case& wanted) {
  using namespace electromagnetic;
  const auto earth = wanted.land();
  Timed timed;
  const auto begin = Clock::now();
  MaxwellSolver<float> solver(stream, earth.mesh, {&earth.sigma, &earth.sigma, &earth.sigma});
  stream.wait();
  timed.setup = seconds_since(begin);
  timed.unknowns = solver.unknowns();
  solver.set_frequency(wanted.hertz);
  auto b = solver.vector();
  auto x = solver.vector();
  const auto points = b.e[2].points();
  const auto count = static_cast<std::size_t>(points.count());
  std::vector<double> values(2 * count);
  const View<double, 3> imaginary(values.data() + count, points);
  imaginary(wanted.cells / 2 - 2, wanted.cells / 2 - 1, wanted.cells / 2) =
      -8e-7 * std::numbers::pi * std::numbers::pi * 100;
  b.e[2].upload(stream, values);
  solver.complete(b);
  const bool with_multigrid = wanted.solver == "bicg_multigrid", qmr = wanted.solver == "qmr";
  solver.set_diagonal(!with_multigrid);
  if (!with_multigrid)
    timed.bytes = stream.device().kind == Device::Kind::cpu ? (qmr ? 373 : 325) : qmr ? 309 : 245;
  timed.span = shortest(stream, with_multigrid ? 4 : repeats(wanted), [&] {
    for (auto& field : x.e) field.fill_zero(stream);
    const auto stopping = with_multigrid ? solve::Stopping{.most_iterations = std::abs(wanted.iterations)}
                                         : stopping_of(wanted.iterations);
    timed.report = qmr ? solver.solve_by_qmr(b, x, stopping) : solver.solve(b, x, stopping);
  });
  return timed;
}

bool run(Device device, int threads, const Case& wanted, bool first) {
  Stream stream(device, false, threads);
  Timed timed;
  if (wanted.solver == "cg_eigen") {
#if TERRANE_HAS_EIGEN
    timed = with_eigen(stream, wanted);
#else
    fmt::print(stderr, "Eigen was not found at compile time: cg_eigen is left out\n");
    return false;
#endif
  } else if (wanted.solver.starts_with("cg")) {
    timed = direct_current(stream, wanted);
  } else {
    timed = electromagnetic_fields(stream, wanted);
  }
  const double count = std::max(1, timed.report.iterations), each = timed.span.seconds / count;
  fmt::print(
      "{}  {{\"solver\": \"{}\", \"device\": \"{}\", \"threads\": {}, \"earth\": \"{}\", \"hertz\": {}, "
      "\"metres\": {}, \"cells\": {}, \"unknowns\": {:.0f}, \"iterations\": {}, \"reason\": \"{}\", "
      "\"residual\": {:.2g}, \"seconds\": {:.5g}, \"processor_s\": {:.5g}, \"setup_s\": {:.4g}, "
      "\"s_per_1000\": {:.5g}, \"processor_s_per_1000\": {:.5g}",
      first ? "" : ",\n", wanted.solver, device_name(device), thread_count(threads), wanted.earth,
      wanted.hertz, wanted.metres, wanted.cells, timed.unknowns, timed.report.iterations,
      solve::name(timed.report.reason), timed.report.residual, timed.span.seconds, timed.span.processor,
      timed.setup, 1000 * each, 1000 * timed.span.processor / count);
  if (timed.bytes > 0)
    fmt::print(", \"bytes_per_unknown\": {}, \"GB_per_s\": {:.5g}", timed.bytes,
               timed.bytes * timed.unknowns / each * 1e-9);
  if (timed.memory > 0) fmt::print(", \"memory_GB_per_s\": {:.5g}", timed.memory * 1e-9);
  fmt::print("}}");
  std::fflush(stdout);
  return true;
}

// ---- operations
// --------------------------------------------------------------------------------------------

/// Vectors of a chain of 500 points that count what loops of krylov.hpp do with them, as Table 1 of the paper
/// does. A product with the diagonal counts as a scalar and a vector.
struct Counting {
  using Number = double;
  using Vector = std::vector<double>;
  int products = 0, dots = 0, sums = 0, scalings = 0;

  Vector vector() const { return Vector(500); }
  Vector image() const { return vector(); }
  double dot(const Vector& u, const Vector& v) {
    ++dots;
    double sum = 0;
    for (std::size_t n = 0; n < u.size(); ++n) sum += u[n] * v[n];
    return sum;
  }
  double norm(const Vector& u) { return std::sqrt(dot(u, u)); }
  void subtract(const Vector& b, const Vector& q, Vector& r) {
    ++sums;
    for (std::size_t n = 0; n < b.size(); ++n) r[n] = b[n] - q[n];
  }
  void blend(double alpha, const Vector& u, double beta, Vector& v) {
    scalings += (alpha != 1) + (beta != 0 && beta != 1);
    sums += beta != 0;
    for (std::size_t n = 0; n < u.size(); ++n) v[n] = alpha * u[n] + (beta != 0 ? beta * v[n] : 0);
  }
  void advance(double alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    blend(alpha, p, 1, x);
    blend(-alpha, q, 1, r);
  }
};

/// Of ten iterations, without what comes before the first and after the last, a tenth.
template <class Solve>
void count_operations_of(const char* name, const Solve& solve, bool first) {
  const auto counted = [&](int iterations) {
    Counting space;
    const auto apply = [&](const auto& p, auto& q) {
      ++space.products;
      for (std::size_t n = 0; n < p.size(); ++n)
        q[n] = 2.1 * p[n] - (n > 0 ? p[n - 1] : 0) - (n + 1 < p.size() ? p[n + 1] : 0);
    };
    const auto diagonal = [&](const auto& r, auto& z, double) {
      ++space.scalings;
      for (std::size_t n = 0; n < r.size(); ++n) z[n] = r[n] / 2.1;
    };
    auto b = space.vector(), x = space.vector();
    for (std::size_t n = 0; n < b.size(); ++n) b[n] = n % 7 == 3;
    solve(space, apply, diagonal, b, x, stopping_of(iterations));
    return space;
  };
  const auto few = counted(5), many = counted(15);
  const auto each = [](int a, int b) { return (b - a) / 10.0; };
  fmt::print("{}  {{\"method\": \"{}\", \"products\": {}, \"dots\": {}, \"sums\": {}, \"scalings\": {}}}",
             first ? "" : ",\n", name, each(few.products, many.products), each(few.dots, many.dots),
             each(few.sums, many.sums), each(few.scalings, many.scalings));
}

void count_operations() {
  fmt::print("[\n");
  count_operations_of(
      "CG, BiCG",
      [](auto& space, auto& apply, auto& diagonal, auto& b, auto& x, const solve::Stopping& stopping) {
        solve::RoomOfGradients<Counting> room(space);
        solve::conjugate_gradients(space, apply, diagonal, b, x, stopping, room);
      },
      true);
  count_operations_of(
      "QMR",
      [](auto& space, auto& apply, auto& diagonal, auto& b, auto& x, const solve::Stopping& stopping) {
        solve::quasi_minimal_residuals(space, apply, diagonal, b, x, stopping);
      },
      false);
  fmt::print("\n]\n");
}

}  // namespace
}  // namespace terrane

int main(int argc, char** argv) {
  using namespace terrane;
  if (argc == 2 && std::string(argv[1]) == "operations") {
    count_operations();
    return 0;
  }
  const Device device = resolve(device_from_text(argc > 1 ? argv[1] : "cpu"));
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0;
  std::vector<Case> cases;
  for (int n = 3; n < argc; ++n) {
    try {
      cases.push_back(benchmarks::KrylovCase::parse(argv[n]));
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      return 1;
    }
  }
  if (cases.empty())
    cases = {{"cg", 64, 100}, {"bicg", 48, 100}, {"qmr", 48, 100}, {"bicg_multigrid", 48, 100}};
  fmt::print("[\n");
  bool first = true;
  for (const auto& one : cases)
    if (run(device, threads, one, first)) first = false;
  fmt::print("\n]\n");
}
