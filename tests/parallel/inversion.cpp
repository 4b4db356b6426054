// An inversion on several ranks, each with its part of the sensitivities.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "../support/files.hpp"
#include "../support/land.hpp"
#include "ranks.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/inversion/job/services.hpp"
#include "terrane/inversion/loop/invert.hpp"
#include "terrane/inversion/loop/joint.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/electric/inverse/direct_current.hpp"
#include "terrane/physics/electromagnetic/inverse/fields.hpp"
#include "terrane/physics/electromagnetic/transfer.hpp"
#include "terrane/physics/gravity/inverse/operators.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::inversion {
namespace {

using namespace electric::inverse;
using namespace electromagnetic::inverse;
using namespace gravity::inverse;

std::vector<double> faces(std::size_t n, double width, double from) {
  std::vector<double> made;
  for (std::size_t i = 0; i <= n; ++i) made.push_back(from + width * static_cast<double>(i));
  return made;
}

const TensorMesh& mesh() {
  static const TensorMesh made(faces(26, 50, -650), faces(18, 50, -450), faces(10, 50, -500));
  return made;
}

/// g_u and Γuu over every second cell.
std::shared_ptr<const gravity::SensitivityColumns> sensitivities() {
  PrismSet cells;
  for (std::size_t c = 0; c < mesh().size(); ++c) cells.push_back(mesh().prism(c));
  gravity::KeptStations stations;
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 12; ++x) {
      stations.easting.push_back(-625 + 100 * x);
      stations.northing.push_back(-425 + 100 * y);
      stations.up.push_back(12);
    }
  const double constant = default_gravitational_constant;
  return std::make_shared<gravity::SensitivityColumns>(
      std::move(cells), std::move(stations),
      std::vector{gravity::Observable::of(gravity::Channel::g_u, 1e5 * constant),
                  gravity::Observable::of(gravity::Channel::g_uu, 1e9 * constant)},
      1e-9);
}

std::vector<double> wave(std::size_t n) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(std::sin(0.37 * static_cast<double>(i) + 0.1));
  return values;
}

Problem problem_of(std::shared_ptr<const solve::LinearOperator> g,
                   const gravity::SensitivityColumns& source) {
  Problem p;
  p.mesh = mesh();
  p.g = std::move(g);
  const auto& s = source.stations();
  p.easting = s.easting;
  p.northing = s.northing;
  p.up = s.up;
  std::vector<double> truth(p.mesh.size());
  for (std::size_t k = 3; k < 7; ++k)
    for (std::size_t j = 6; j < 12; ++j)
      for (std::size_t i = 8; i < 15; ++i) truth[p.mesh.index(i, j, k)] = 300;
  p.data.resize(p.g->rows());
  p.g->apply(truth, p.data);
  p.sets = {{"g_u", "mGal", 0, s.size()}, {"g_uu", "E", s.size(), s.size()}};
  const auto noise = wave(p.data.size());
  for (std::size_t i = 0; i < p.data.size(); ++i) {
    p.sigma.push_back(i < s.size() ? 0.01 : 0.5);
    p.data[i] += p.sigma[i] * 1.4 * noise[i];
  }
  p.bounds = {std::vector<double>(p.mesh.size(), 0.0), std::vector<double>(p.mesh.size(), 400.0)};
  return p;
}

void serve_inversions(Comm& comm) {
  Registry registry;
  registry.add(physics::inversions().job());
  serve(registry, comm);
}

TEST(InversionOnRanks, HasTheSameBitsAsOneProcessHoweverTheMatrixIsHeld) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) return serve_inversions(*comm);
  const auto source = sensitivities();
  const testing_support::TemporaryFolder folder;
  const std::filesystem::path file = folder / "matrix.sens";
  Runtime alone, shared;
  alone.threads = shared.threads = 2;
  shared.comm = comm.get();
  std::vector<std::string> notes;
  for (const auto storage : {Storage::none, Storage::single, Storage::dense, Storage::disk, Storage::lattice,
                             Storage::tree, Storage::fmm}) {
    const StorageSettings settings{storage, file, 1e-9};
    const auto here = make_operator(source, settings, alone, notes),
               there = make_operator(source, settings, shared, notes);
    const auto model = wave(here->columns()), data = wave(here->rows());
    std::vector<double> a(data.size()), b(data.size()), x(model.size()), y(model.size());
    here->apply(model, a);
    there->apply(model, b);
    EXPECT_EQ(a, b);
    here->apply_transpose(data, x);
    there->apply_transpose(data, y);
    EXPECT_EQ(x, y);
    EXPECT_LT(solve::dot_product_test(*there, model, data), 1e-13);
    for (double& w : a) w *= w;
    here->weighted_diagonal(a, x);
    there->weighted_diagonal(a, y);
    EXPECT_EQ(x, y);
    if (storage != Storage::single && storage != Storage::lattice) continue;
    Settings wanted;
    wanted.alphas = Alphas::from_lengths({150, 150, 150});
    wanted.threads = 2;
    const auto one = invert(problem_of(here, *source), wanted),
               all = invert(problem_of(there, *source), wanted);
    EXPECT_EQ(one.model, all.model);
    EXPECT_EQ(one.predicted, all.predicted);
    EXPECT_EQ(one.products, all.products);
    EXPECT_TRUE(all.converged) << all.reason;
    EXPECT_GT(all.on_bounds, 100U);
  }
  dismiss(*comm);
}

// Whose operators are there at the same time, and one of them longer than the other.
TEST(InversionOnRanks, ModelsThatAreFoundTogetherHaveTheBitsOfOneProcess) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) return serve_inversions(*comm);
  const auto source = sensitivities();
  const auto& s = source->stations();
  const auto of = [&](std::size_t observable) {
    return std::make_shared<gravity::SensitivityColumns>(
        source->cells(), s, std::vector{source->observables()[observable]}, source->accuracy());
  };
  Runtime alone, shared;
  alone.threads = shared.threads = 2;
  shared.comm = comm.get();
  std::vector<std::string> notes;
  Settings wanted;
  wanted.alphas = Alphas::from_lengths({150, 150, 150});
  wanted.threads = 2;
  wanted.tolerance = 1e-2;
  JointSettings joint;
  joint.most_rounds = 1;
  std::vector<JointOutcome> found;
  for (const Runtime* runtime : {&alone, &shared}) {
    const auto workers = std::make_shared<solve::Workers>(*comm);
    const auto whole = problem_of(make_operator(source, {Storage::none, {}, 1e-9}, alone, notes), *source);
    std::vector<Problem> problems;
    for (const std::size_t o : {0U, 1U}) {
      auto& p = problems.emplace_back(whole);
      p.g = make_operator(of(o), {o == 0 ? Storage::single : Storage::tree, {}, 1e-9}, *runtime, notes,
                          workers);
      const auto& set = whole.sets[o];
      const auto first = static_cast<std::ptrdiff_t>(set.first),
                 last = first + static_cast<std::ptrdiff_t>(set.count);
      p.data.assign(whole.data.begin() + first, whole.data.begin() + last);
      p.sigma.assign(whole.sigma.begin() + first, whole.sigma.begin() + last);
      p.sets = {{set.name, set.unit, 0, set.count}};
      p.bounds = {};
    }
    found.push_back(invert_jointly({&problems[0], &problems[1]}, {&wanted, &wanted}, joint));
    problems.front().g.reset();
    std::vector<double> data(problems.back().g->rows());
    problems.back().g->apply(found.back().together[1].model, data);
    EXPECT_EQ(data, found.back().together[1].predicted);
  }
  for (const std::size_t p : {0U, 1U}) EXPECT_EQ(found[0].together[p].model, found[1].together[p].model);
  EXPECT_EQ(found[0].rounds.size(), 1U);
  EXPECT_LT(found[0].cross_gradient, 0.9);
  dismiss(*comm);
}

/// The data of both, J m, Jᵀ d and the diagonal of JᵀJ, of the same model.
void expect_same_bits(const Forward& here, const Forward& there, const std::vector<double>& resistivity) {
  auto one = here.at(resistivity), all = there.at(resistivity);
  EXPECT_EQ(one.data, all.data);
  ASSERT_NE(all.jacobian, nullptr);
  one.store_entries();
  all.store_entries();
  const auto model = wave(one.jacobian->columns()), data = wave(one.jacobian->rows());
  std::vector<double> a(data.size()), b(data.size()), x(model.size()), y(model.size());
  one.jacobian->apply(model, a);
  all.jacobian->apply(model, b);
  EXPECT_EQ(a, b);
  EXPECT_GT(solve::norm(a), 0);
  one.jacobian->apply_transpose(data, x);
  all.jacobian->apply_transpose(data, y);
  EXPECT_EQ(x, y);
  for (double& w : a) w = std::fabs(w) + 1;
  one.jacobian->weighted_diagonal(a, x);
  all.jacobian->weighted_diagonal(a, y);
  EXPECT_EQ(x, y);
}

const TensorMesh& ground() {
  static const TensorMesh made(faces(14, 10, -70), faces(8, 12, -48), faces(6, 9, -54));
  return made;
}

/// Five electrodes along a line, two arrays, and more of them.
electric::Electrodes line(const std::vector<electric::Array>& more = {}) {
  electric::Electrodes electrodes;
  for (int n = 0; n < 5; ++n) electrodes.place.push_back({-40.0 + 20 * n, 1, -4});
  for (int n = 0; n < 2; ++n) electrodes.arrays.push_back({n + 1, n, n + 2, n + 3});
  electrodes.arrays.insert(electrodes.arrays.end(), more.begin(), more.end());
  return electrodes;
}

TEST(InversionOnRanks, DirectCurrentHasTheSameBitsAsInOneProcess) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) return serve_inversions(*comm);
  std::vector<double> resistivity = wave(ground().size());
  for (double& rho : resistivity) rho = 100 * std::exp(rho);
  // Products of few pairs of current electrodes, and of many.
  for (const auto& arrays : {line(), line({{0, 1, 3, 4},
                                           {0, 2, 3, 4},
                                           {0, 3, 1, 4},
                                           {1, 2, 3, 4},
                                           {1, 3, 2, 4},
                                           {2, 3, 0, 1},
                                           {0, 4, 1, 2},
                                           {3, 4, 1, 2}})}) {
    const auto data = [&](Comm* ranks, Device::Kind kind, int at_once) {
      return DirectCurrent(ground(), {}, {}, arrays, {}, electric::Datum::log_apparent_resistivity,
                           {kind, -1}, 2, ranks, nullptr, at_once);
    };
    const auto here = data(nullptr, Device::Kind::cpu, 0);
    {  // two models at once, as while a step is searched
      const auto all = data(comm.get(), Device::Kind::cpu, 0);
      const auto first = all.at(resistivity);
      expect_same_bits(here, all, std::vector<double>(resistivity.size(), 30.0));
      EXPECT_EQ(first.data, here.at(resistivity).data);
    }
    if (arrays.arrays.size() > 2) continue;
    for (const int at_once : {0, 1, 2}) {  // each electrode by a rank; by all; by two groups of ranks
      const auto there = data(comm.get(), at_once == 1 ? Device::Kind::debug : Device::Kind::cpu, at_once);
      EXPECT_EQ(here.unit(), there.unit());
      expect_same_bits(here, there, resistivity);
    }
  }
  dismiss(*comm);
}

TEST(InversionOnRanks, ElectromagneticFieldsAndPlaneWavesHaveTheSameBitsAsInOneProcess) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) return serve_inversions(*comm);
  const auto earth = test::land(8, 1.3);
  electromagnetic::Problem problem;
  problem.mesh = earth.mesh;
  problem.conductivity[0] = earth.sigma;
  problem.frequencies = {3, 20};
  problem.receivers = {{210, 50, -60}, {-220, 160, -30}, {-20, -160, -30}};
  std::vector<double> resistivity;
  for (const double sigma : earth.sigma) resistivity.push_back(1 / sigma);
  const Device cpu{Device::Kind::cpu, -1};
  for (const bool plane : {false, true}) {
    using Kind = electromagnetic::Source::Kind;
    problem.sources = {{Kind::wire, {{-133, 77, -21}, {112.5, -40, -155}}, {}, 1},
                       {Kind::magnetic_dipole, {{30, 40, -60}}, {0, 0, 3}, 1}};
    problem.components = {{false, 2}, {true, 0}};
    if (plane) {
      problem.sources = electromagnetic::both_polarisations();
      problem.components = electromagnetic::recorded_of_plane_waves();
    }
    MeasuredFields measured;
    for (const std::size_t place : {1, 3, 7, 10, 14, 19, 23}) {
      measured.place.push_back(place);
      measured.value.push_back({1e-9, 2e-9});
      measured.sigma.push_back(1e-10);
    }
    for (const bool in_memory : {true, false}) {
      const auto data = [&](Comm* ranks) {
        return ElectromagneticFields(problem, {}, measured, Parts::real_imaginary, in_memory, cpu, 1, ranks);
      };
      const auto here = data(nullptr), there = data(comm.get());
      expect_same_bits(here, there, resistivity);
      auto other = resistivity;
      for (double& rho : other) rho *= 1.1;
      const auto kept = there.at(resistivity);  // two models at once
      expect_same_bits(here, there, other);
    }
  }
  dismiss(*comm);
}

TEST(InversionOnRanks, AnErrorOfFieldsIsThatOfOneProcessAndAllGoOn) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) return serve_inversions(*comm);
  const auto earth = test::land(8, 1.3);
  electromagnetic::Problem problem;
  problem.mesh = earth.mesh;
  problem.conductivity[0] = earth.sigma;
  problem.frequencies = {3};
  problem.sources = {{electromagnetic::Source::Kind::magnetic_dipole, {{30, 40, -60}}, {0, 0, 3}, 1}};
  problem.components = {{false, 2}};
  problem.receivers = {{210, 50, -60}};
  std::vector<double> resistivity;
  for (const double sigma : earth.sigma) resistivity.push_back(1 / sigma);
  MeasuredFields measured;
  measured.place = {0};
  measured.value = {{1e-9, 2e-9}};
  measured.sigma = {1e-10};
  {  // the ranks are released when the fields are gone
    const ElectromagneticFields fields(problem, {}, measured, Parts::real_imaginary, false,
                                       {Device::Kind::cpu, -1}, 1, comm.get());
    const auto good = fields.at(resistivity);
    auto bad = resistivity;
    bad[7] = -3;
    EXPECT_THROW(fields.at(bad), InputError);
    // The ranks have forgotten the first model; nobody waits for what is asked of it.
    std::vector<double> v(resistivity.size(), 1.0), data(2);
    if (comm->size() > 1) {
      EXPECT_THROW(good.jacobian->apply(v, data), Error);
    }
    EXPECT_EQ(fields.at(resistivity).data, good.data);
  }
  dismiss(*comm);
}

// Products, electrodes and fields by turns, as joint inversions ask for them, while operators come and go.
TEST(InversionOnRanks, ACrewServesModelsOfAllKindsInAnyOrderWithTheBitsOfOneProcess) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) return serve_inversions(*comm);
  const auto source = sensitivities();
  const auto land = test::land(8, 1.3);
  electromagnetic::Problem fields;
  fields.mesh = land.mesh;
  fields.conductivity[0] = land.sigma;
  fields.frequencies = {3};
  fields.receivers = {{210, 50, -60}, {-220, 160, -30}};
  fields.sources = {{electromagnetic::Source::Kind::magnetic_dipole, {{30, 40, -60}}, {0, 0, 3}, 1}};
  fields.components = {{true, 0}};
  const MeasuredFields measured{{0, 1}, {{1e-9, 2e-9}, {1e-9, -1e-9}}, {1e-10, 1e-10}, {}};
  std::vector<double> of_cells = wave(ground().size()), of_land;
  for (double& rho : of_cells) rho = 100 * std::exp(rho);
  for (const double sigma : land.sigma) of_land.push_back(1 / sigma);
  Runtime shared;
  shared.threads = 2;
  shared.comm = comm.get();
  std::vector<std::string> notes;
  const StorageSettings stored{Storage::single, {}, 1e-9};
  const auto alone = make_operator(source, stored, {}, notes);
  const auto model = wave(alone->columns());
  std::vector<double> here(alone->rows()), there(alone->rows());
  alone->apply(model, here);
  {
    const auto workers = call_workers(*comm);
    const auto currents = [&](Comm* ranks) {
      return DirectCurrent(ground(), {}, {}, line(), {}, electric::Datum::log_apparent_resistivity,
                           {Device::Kind::cpu, -1}, 2, ranks, workers);
    };
    const auto waves = [&](bool in_memory, Comm* ranks) {
      return ElectromagneticFields(fields, {}, measured, Parts::real_imaginary, in_memory,
                                   {Device::Kind::cpu, -1}, 1, ranks, workers);
    };
    const auto one = currents(nullptr), all = currents(comm.get());
    expect_same_bits(one, all, of_cells);
    const auto first = waves(false, nullptr), second = waves(false, comm.get());
    const auto kept = second.at(of_land);  // whose products need the ranks
    for (const auto storage : {Storage::single, Storage::tree}) {
      const auto g = make_operator(source, {storage, {}, 1e-9}, shared, notes, workers);
      g->apply(model, there);
      if (storage == Storage::single) {
        EXPECT_EQ(here, there);
      }
      expect_same_bits(first, second, of_land);
      expect_same_bits(waves(true, nullptr), waves(true, comm.get()), of_land);
      expect_same_bits(one, all, of_cells);
      g->apply(model, there);
      if (storage == Storage::single) {
        EXPECT_EQ(here, there);
      }
    }
  }
  // The ranks wait again as before the workers.
  make_operator(source, stored, shared, notes)->apply(model, there);
  EXPECT_EQ(here, there);
  dismiss(*comm);
}

TEST(InversionOnRanks, AnErrorOfDirectCurrentIsThatOfOneProcessAndAllGoOn) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) return serve_inversions(*comm);
  const std::vector<double> resistivity(ground().size(), 100.0);
  const auto of = [&](electric::Electrodes electrodes, Comm* ranks) {
    return DirectCurrent(ground(), {}, {}, std::move(electrodes), {},
                         electric::Datum::log_apparent_resistivity, {Device::Kind::cpu, -1}, 2, ranks);
  };
  for (Comm* ranks : {static_cast<Comm*>(nullptr), comm.get()}) {
    // Before ranks solve: an array of one electrode; while they do: an electrode outside; after it: no
    // factor.
    EXPECT_THROW(of(line({{2, 2, 0, 1}}), ranks).unit(), InputError);
    auto outside = line();
    outside.place[3].e = 1000;
    EXPECT_THROW(of(outside, ranks).unit(), InputError);
    EXPECT_THROW(of(outside, ranks).at(resistivity), InputError);
    auto symmetric = line({{1, 3, 5, 6}});
    symmetric.place.push_back({0, 21, -4});
    symmetric.place.push_back({0, -19, -4});
    EXPECT_THROW(of(symmetric, ranks).at(resistivity), InputError);
    EXPECT_EQ(of(line(), ranks).at(resistivity).data.size(), 2U);
  }
  dismiss(*comm);
}

/// Fails where columns of the second half are made.
class Torn final : public solve::ColumnSource {
 public:
  std::size_t rows() const override { return 3; }
  std::size_t columns() const override { return 5000; }
  void make(std::size_t, std::size_t last, std::span<double> out) const override {
    if (last > 4000) throw MemoryError("columns", "there is no room", "Take fewer.");
    std::fill(out.begin(), out.end(), 1.0);
  }
};

TEST(InversionOnRanks, AFailureOfOneRankIsToldOnRank0AndAllGoOn) {
  const auto comm = test::ranks(test::Order::as_started);
  const auto ranks = static_cast<std::size_t>(comm->size());
  const auto mine = std::make_shared<solve::OnTheFlyOperator>(
      std::make_shared<Torn>(), 1, solve::ShareOfParts{static_cast<std::size_t>(comm->rank()), ranks});
  if (comm->rank() > 0) {
    solve::serve_products(*comm, mine);
  } else {
    const solve::SharedOperator g(std::make_shared<solve::Workers>(*comm), mine);
    std::vector<double> model(5000, 1.0), data(3);
    EXPECT_THROW(g.apply(model, data), MemoryError);
  }
  EXPECT_EQ(comm->lowest(comm->rank()), 0) << "all are in step";
}

}  // namespace
}  // namespace terrane::inversion
