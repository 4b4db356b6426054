// The packed kernels of every instruction set against one another and against the scalar form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "support/quad_field.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {
namespace {

TEST(KernelTarget, EachInstructionSetTakesAsManyStationsAsItsRegistersHold) {
  for (auto [name, lanes] : {std::pair{"avx512", 8}, {"avx2", 4}, {"plain", 2}}) {
    try {
      for (const auto& kernels : kernel_target(name).kernels) EXPECT_EQ(kernels.lanes, lanes) << name;
    } catch (const UnsupportedError&) {
      EXPECT_STRNE(name, kernel_target().name);  // a build may have this machine's alone
    }
  }
}

TEST(KernelTarget, AnUnknownInstructionSetIsAnsweredWithThoseToBeHad) {
  try {
    kernel_target("sse9");
    FAIL();
  } catch (const UnsupportedError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("\"sse9\" is not an instruction set"));
    EXPECT_THAT(e.what(), testing::HasSubstr(kernel_target().name));
  }
}

/// Every instruction set that this processor runs.
std::vector<const KernelTarget*> targets() {
  std::vector<const KernelTarget*> list;
  for (const char* name : {"plain", "avx2", "avx512"}) {
    try {
      list.push_back(&kernel_target(name));
    } catch (const UnsupportedError&) {
    }
  }
  return list;
}

TEST(KernelTarget, EveryInstructionSetAndEverySetOfChannelsAgreesWithTheScalarForm) {
  const auto rows = test::reference_rows();
  for (double accuracy : {best_accuracy, 1e-12}) {
    const auto switching = Switching::for_accuracy(accuracy);
    for (const auto* target : targets())
      for (std::size_t set = 0; set < std::size(kernel_sets); ++set) {
        const auto& kernels = target->kernels[set];
        for (const auto& row : rows) {
          const Prism& p = row.prism;
          const double one = 1;
          const Sources sources({{&p.west, 1},
                                 {&p.east, 1},
                                 {&p.south, 1},
                                 {&p.north, 1},
                                 {&p.bottom, 1},
                                 {&p.top, 1},
                                 {&one, 1}},
                                Turn{{0, 1, 2}, kernel_sets[set]}, switching);
          const auto& at = row.station;
          const Receivers receivers({{&at[0], 1}, {&at[1], 1}, {&at[2], 1}},
                                    Turn{{0, 1, 2}, kernel_sets[set]}, kernels.lanes);
          PrismTile tile;
          sources.load(0, tile);
          NearPairsOfTask near_pairs(switching, receivers);
          double sums[10 * tile_size] = {};
          kernels.near(tile, receivers.tile(0), near_pairs, sums);

          const auto q = field_of_prism(p, at[0], at[1], at[2], switching);
          const double scalar[10] = {q.v, q.e, q.n, q.u, q.ee, q.nn, q.uu, q.en, q.eu, q.nu};
          const double norm[3] = {
              q.v,
              std::max(std::hypot(q.e, q.n, q.u),
                       row.inside() ? std::min({p.east - p.west, p.north - p.south, p.top - p.bottom}) : 0.0),
              std::sqrt(q.ee * q.ee + q.nn * q.nn + q.uu * q.uu +
                        2 * (q.en * q.en + q.eu * q.eu + q.nu * q.nu))};
          std::size_t column = 0;
          for (auto channel : kernel_sets[set].list()) {
            const auto c = static_cast<std::size_t>(channel);
            if (row.value[c] == row.value[c]) {
              EXPECT_NEAR(sums[column * tile_size], scalar[c],
                          (row.aspect() > 10 ? accuracy : 4e-15) * norm[c == 0  ? 0
                                                                        : c < 4 ? 1
                                                                                : 2])
                  << target->name << ", " << name(channel) << ", " << row.kind;
            }
            ++column;
          }
        }
      }
  }
}

TEST(KernelTarget, FarTilesAgreeWithTheScalarForm) {
  // A tile of 64 unequal prisms and one of 61 stations, far apart, by each order.
  std::mt19937 random(3);
  test::PrismList prisms;
  std::uniform_real_distribution<double> at(-50, 50), side(1, 9), density(-300, 900);
  for (int n = 0; n < tile_size; ++n) {
    const double x = at(random), y = at(random), z = at(random);
    prisms.add({x, x + side(random), y, y + side(random), z, z + side(random)}, density(random));
  }
  const double from[4] = {3e5, 3000, 900, 400};  // where the order is at rounding error
  for (int order = 0; order < 4; ++order) {
    const auto stations = test::random_stations({from[order], from[order] + 50, 0, 50, 0, 50}, 61, random);
    const auto truth = test::quad_table(prisms, stations);
    for (const auto* target : targets())
      for (std::size_t set = 0; set < std::size(kernel_sets); ++set) {
        const Turn turn{{0, 1, 2}, kernel_sets[set]};
        const auto switching = Switching::for_accuracy(1e-12);
        const Sources sources(prisms.view(), turn, switching);
        const Receivers receivers(stations.view(), turn, target->kernels[set].lanes);
        PrismTile tile;
        sources.load(0, tile);
        NearPairsOfTask near_pairs(switching, receivers);
        double sums[10 * tile_size] = {};
        target->kernels[set].far[order](tile, receivers.tile(0), near_pairs, sums);
        std::size_t column = 0;
        for (auto channel : kernel_sets[set].list()) {
          const auto c = static_cast<std::size_t>(channel);
          double size = 0;
          for (std::size_t k = c == 0 ? 0 : c < 4 ? 1 : 4; k < (c == 0 ? 1U : c < 4 ? 4U : 10U); ++k)
            for (double v : truth[k]) size = std::max(size, std::fabs(v));
          for (int s = 0; s < 61; ++s) {
            const auto n = receivers.station(0, s);
            EXPECT_NEAR(
                default_gravitational_constant * sums[column * tile_size + static_cast<std::size_t>(s)],
                truth[c][n], 2e-10 * size)
                << target->name << ", order " << 2 * (order + 1) << ", " << name(channel);
          }
          ++column;
        }
      }
  }
}

}  // namespace
}  // namespace terrane::gravity
