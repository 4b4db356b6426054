// Magnetics on several ranks: the same bits however many there are, by every method.
#include <gtest/gtest.h>

#include <random>

#include "parallel/ranks.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/magnetic/forward.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::magnetic {
namespace {

TEST(MagneticOnRanks, HasTheSameBitsAsOneProcessByEveryMethodAndDevice) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) {
    const Registry registry = physics::all();
    return serve(registry, *comm);
  }
  std::mt19937 random(7);
  std::uniform_real_distribution<double> part(0, 0.1);
  std::vector<double> w, e, s, n, bottom, top, none, chi, remanent, at_e, at_n, at_u;
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 9; ++j)
      for (int k = 0; k < 5; ++k) {
        w.push_back(50 * i);
        e.push_back(50 * i + 50);
        s.push_back(50 * j);
        n.push_back(50 * j + 50);
        bottom.push_back(-40 * k - 40);
        top.push_back(-40 * k);
        none.push_back(0);
        chi.push_back(part(random));
        remanent.push_back(10 * part(random));
      }
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 9; ++j) {
      at_e.push_back(25 + 50 * i);
      at_n.push_back(25 + 50 * j);
      at_u.push_back(20);
    }
  const gravity::Prisms prisms{w, e, s, n, bottom, top, none};
  const auto m = magnetization(chi, {5e-5, 65, -12}, {remanent, none, remanent});  // three sums
  for (const auto method : {gravity::Method::direct, gravity::Method::lattice, gravity::Method::tree})
    for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
      gravity::Parameters parameters;
      parameters.method = method;
      parameters.accuracy = method == gravity::Method::tree ? 1e-8 : 1e-12;
      parameters.device = {kind, -1};
      parameters.threads = 2;
      Runtime shared;
      shared.comm = comm.get();
      const auto one = forward(prisms, m, {at_e, at_n, at_u}, parameters),
                 all = forward(prisms, m, {at_e, at_n, at_u}, parameters, nullptr, shared);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(one.b[c], all.b[c]);
    }
  dismiss(*comm);
}

}  // namespace
}  // namespace terrane::magnetic
