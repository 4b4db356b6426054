// An inversion on several ranks, each with its part of the sensitivities.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "ranks.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/inversion/invert.hpp"
#include "terrane/inversion/job.hpp"
#include "terrane/inversion/operators.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::inversion {
namespace {

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

TEST(InversionOnRanks, HasTheSameBitsAsOneProcessHoweverTheMatrixIsHeld) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) {
    Registry registry;
    registry.add(job_of_inversions());
    serve(registry, *comm);
    return;
  }
  const auto source = sensitivities();
  const auto file = std::filesystem::temp_directory_path() / "terrane_inversion_on_ranks.sens";
  std::filesystem::remove(file);
  Runtime alone, shared;
  alone.threads = shared.threads = 2;
  shared.comm = comm.get();
  std::vector<std::string> notes;
  for (const auto storage :
       {Storage::none, Storage::single, Storage::dense, Storage::disk, Storage::lattice, Storage::tree}) {
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
  std::filesystem::remove(file);
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
    solve::serve_products(*comm, *mine);
  } else {
    const solve::SharedOperator g(*comm, mine);
    std::vector<double> model(5000, 1.0), data(3);
    EXPECT_THROW(g.apply(model, data), MemoryError);
  }
  EXPECT_EQ(comm->lowest(comm->rank()), 0) << "all are in step";
}

}  // namespace
}  // namespace terrane::inversion
