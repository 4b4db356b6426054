// Sensitivities beside the forward run at stations inside cells, on their faces, edges and corners, for every
// storage and policy.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "support/files.hpp"
#include "terrane/physics/gravity/inverse/operators.hpp"
#include "terrane/physics/magnetic/forward.hpp"

namespace terrane::inversion {
namespace {

using namespace gravity::inverse;

constexpr gravity::SingularPolicy policies[] = {gravity::SingularPolicy::nan, gravity::SingularPolicy::mean,
                                                gravity::SingularPolicy::outside,
                                                gravity::SingularPolicy::inside};
constexpr Storage storages[] = {Storage::dense, Storage::single,  Storage::none, Storage::tree,
                                Storage::fmm,   Storage::lattice, Storage::disk};
const magnetic::MainField main_field{50'000e-9, 60, 10};

/// 4 × 4 × 3 cells of 10 m, of which the west half is all alike.
struct Mesh {
  PrismSet cells;
  std::vector<double> model;
  Mesh() {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> other(0.01, 0.05);
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) {
          cells.push_back({10.0 * i, 10.0 * i + 10, 10.0 * j, 10.0 * j + 10, 10.0 * k - 30, 10.0 * k - 20});
          model.push_back(i < 2 ? 0.02 : other(random));
        }
  }
};

/// On the nodes of a lattice of 5 m: corners, edges, faces and centres, inside and on the surface.
gravity::KeptStations stations() {
  gravity::KeptStations s;
  for (int k = 0; k < 8; ++k)
    for (int j = 0; j < 9; ++j)
      for (int i = 0; i < 9; ++i) {
        s.easting.push_back(5.0 * i);
        s.northing.push_back(5.0 * j);
        s.up.push_back(5.0 * k - 30);
      }
  return s;
}

std::vector<double> data_of(const solve::LinearOperator& g, const std::vector<double>& model) {
  std::vector<double> data(g.rows());
  g.apply(model, data);
  return data;
}

void expect_alike(const std::vector<double>& found, const std::vector<double>& right, double near,
                  const char* what) {
  ASSERT_EQ(found.size(), right.size());
  double most = 0;
  for (const double v : right)
    if (!std::isnan(v)) most = std::max(most, std::fabs(v));
  std::size_t wrong = 0, nans = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    nans += std::isnan(right[i]);
    if (std::isnan(right[i]) ? !std::isnan(found[i]) : !(std::fabs(found[i] - right[i]) <= near * most))
      ++wrong;
  }
  EXPECT_EQ(wrong, 0U) << what << ", of " << right.size() << " with " << nans << " NaN";
}

std::shared_ptr<const solve::LinearOperator> operator_of(
    const std::shared_ptr<const gravity::SensitivityColumns>& source, Storage storage,
    const testing_support::TemporaryFolder& folder) {
  StorageSettings settings;
  settings.storage = storage;
  settings.tree_accuracy = 1e-6;
  settings.file = folder / "sensitivities";
  std::filesystem::remove(settings.file);
  std::vector<std::string> notes;
  return make_operator(source, settings, {}, notes);
}

double near_of(Storage storage) {
  return storage == Storage::tree || storage == Storage::fmm      ? 1e-5
         : storage == Storage::single || storage == Storage::disk ? 1e-5
                                                                  : 1e-8;
}

TEST(StationsInCells, OfMagneticsHaveTheFieldOfTheForwardRunWithEveryStorageAndPolicy) {
  const testing_support::TemporaryFolder folder;
  const Mesh mesh;
  const auto at = stations();
  std::vector<gravity::Observable> all;
  for (const auto c :
       {magnetic::Channel::b_e, magnetic::Channel::b_n, magnetic::Channel::b_u, magnetic::Channel::tmi})
    all.push_back(magnetic::observable(c, main_field));
  const std::vector<double> zero(mesh.cells.size());
  const auto& c = mesh.cells;
  const auto m = magnetic::magnetization(mesh.model, main_field);
  for (const auto policy : policies) {
    gravity::Parameters p;
    p.singular = policy;
    p.method = gravity::Method::direct;
    const auto field =
        magnetic::forward({c.west, c.east, c.south, c.north, c.bottom, c.top, zero}, m, at.view(), p);
    auto right = field.b[0];
    right.insert(right.end(), field.b[1].begin(), field.b[1].end());
    right.insert(right.end(), field.b[2].begin(), field.b[2].end());
    const auto tmi = magnetic::total_field_anomaly(field, main_field);
    right.insert(right.end(), tmi.begin(), tmi.end());
    const auto source = std::make_shared<gravity::SensitivityColumns>(mesh.cells, at, all, 1e-9, policy);
    for (const auto storage : storages)
      expect_alike(data_of(*operator_of(source, storage, folder), mesh.model), right, near_of(storage),
                   "magnetics");
  }
}

TEST(StationsInCells, OfGravityHaveTheGradientsOfTheForwardRunWithEveryStorageAndPolicy) {
  const testing_support::TemporaryFolder folder;
  const Mesh mesh;
  const auto at = stations();
  std::vector<gravity::Observable> all;
  for (const auto channel : gravity::tensor_channels.list())
    all.push_back(gravity::Observable::of(channel, default_gravitational_constant));
  const auto& c = mesh.cells;
  for (const auto policy : policies) {
    gravity::Parameters p;
    p.singular = policy;
    p.method = gravity::Method::direct;
    p.channels = gravity::tensor_channels;
    std::vector<double> right(6 * at.size());
    gravity::Fields fields{p.channels, {}, {}};
    for (std::size_t o = 0; o < 6; ++o)
      fields.values.emplace_back(std::span(right).subspan(o * at.size(), at.size()));
    gravity::forward({c.west, c.east, c.south, c.north, c.bottom, c.top, mesh.model}, at.view(), p, fields);
    const auto source = std::make_shared<gravity::SensitivityColumns>(mesh.cells, at, all, 1e-9, policy);
    for (const auto storage : storages)
      expect_alike(data_of(*operator_of(source, storage, folder), mesh.model), right, near_of(storage),
                   "gravity");
  }
}

TEST(StationsInCells, EveryColumnIsTheForwardRunOfItsCellAloneOrHasNoValue) {
  const testing_support::TemporaryFolder folder;
  const Mesh mesh;
  const auto at = stations();
  const std::vector<gravity::Observable> tmi{magnetic::observable(magnetic::Channel::tmi, main_field)};
  for (const auto policy : policies) {
    const auto source = std::make_shared<gravity::SensitivityColumns>(mesh.cells, at, tmi, 1e-9, policy);
    const solve::DenseOperator<double> columns(*source);  // whose entries are settled one by one
    const auto g = operator_of(source, Storage::dense, folder);
    std::vector<double> row(g->columns()), of_columns(row.size()), data(g->rows()), gathered(row.size());
    const std::size_t cell = 21;
    const auto& p = mesh.cells;
    const Prism prism = p[cell];
    const std::vector<double> w{prism.west}, e{prism.east}, s{prism.south}, n{prism.north}, b{prism.bottom},
        t{prism.top}, chi{1}, zero{0};
    gravity::Parameters parameters;
    parameters.singular = policy;
    parameters.method = gravity::Method::direct;
    const auto alone = magnetic::total_field_anomaly(
        magnetic::forward({w, e, s, n, b, t, zero}, magnetic::magnetization(chi, main_field), at.view(),
                          parameters),
        main_field);
    for (std::size_t i = 0; i < at.size(); ++i) {
      g->row(i, row);
      columns.row(i, of_columns);
      ASSERT_EQ(std::isnan(row[cell]), std::isnan(of_columns[cell]));
      if (std::isnan(row[cell])) continue;
      EXPECT_NEAR(row[cell], of_columns[cell], 1e-12 * std::fabs(row[cell]) + 1e-18);
      EXPECT_NEAR(row[cell], alone[i], 1e-8 * std::fabs(alone[i]) + 1e-16);
      data.assign(data.size(), 0.0);
      data[i] = 2;
      g->apply_transpose(data, gathered);
      EXPECT_NEAR(gathered[cell], 2 * row[cell], 1e-12 * std::fabs(row[cell]) + 1e-18);
      g->weighted_diagonal(data, gathered);
      EXPECT_NEAR(gathered[cell], 2 * row[cell] * row[cell], 1e-9 * row[cell] * row[cell]);
    }
  }
}

}  // namespace
}  // namespace terrane::inversion
