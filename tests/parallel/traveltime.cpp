#include <gtest/gtest.h>

#include "../support/travel_times.hpp"
#include "ranks.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/traveltime/times.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::traveltime {
namespace {

TEST(TravelTimesOnRanks, HaveTheSameBitsAsInOneProcess) {
  for (const auto order : {test::Order::as_started, test::Order::reversed}) {
    const auto comm = test::ranks(order);
    if (comm->rank() > 0) {
      serve(physics::all(), *comm);
      continue;
    }
    const auto p = test::rough_rock(7, 5);
    Runtime alone, shared;
    shared.comm = comm.get();
    EXPECT_EQ(travel_times(p, shared).values, travel_times(p, alone).values);
    dismiss(*comm);
  }
}

}  // namespace
}  // namespace terrane::traveltime
