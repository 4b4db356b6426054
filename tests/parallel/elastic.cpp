#include <gtest/gtest.h>

#include "../support/elastic_meshes.hpp"
#include "ranks.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/elastic/march.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::elastic {
namespace {

TEST(ElasticOnRanks, HasTheSameBitsAsOneProcess) {
  for (const auto order : {test::Order::as_started, test::Order::reversed}) {
    const auto comm = test::ranks(order);
    if (comm->rank() > 0) {
      serve(physics::all(), *comm);
      continue;
    }
    for (const auto precision : {Precision::single_precision, Precision::double_precision})
      for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
        if (kind == Device::Kind::debug &&
            (precision == Precision::double_precision || order == test::Order::reversed))
          continue;
        const auto problem = test::rough_earth(precision);
        Runtime alone, shared;
        alone.device.kind = shared.device.kind = kind;
        alone.threads = shared.threads = 1;
        shared.comm = comm.get();
        const auto here = march(problem, alone, Keep::state), there = march(problem, shared, Keep::state);
        EXPECT_EQ(here.changes, there.changes);
        EXPECT_EQ(here.displacement, there.displacement);
        EXPECT_EQ(here.change, there.change);
      }
    dismiss(*comm);
  }
}

}  // namespace
}  // namespace terrane::elastic
