// How fast steps are: numbers for people, and a bound on what the kernels gain over their slow twin in the
// same run.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <ctime>

#include "support/elastic_meshes.hpp"
#include "terrane/physics/elastic/march/field.hpp"
#include "terrane/physics/elastic/medium/attenuation.hpp"

namespace terrane::elastic {
namespace {

struct SpeedCase {
  const char* name;
  bool trilinear;
  Rheology rheology;
  Precision precision;
  Sums sums;
};

/// Element steps per second, of wall time on a GPU and of processor time on the CPU.
double speed(const SpeedCase& what, std::size_t side, const FieldOptions& options, int steps) {
  Problem p;
  const bool fluid = what.rheology == Rheology::fluid;
  auto rock = fluid ? Medium::from_speeds(1500, 0, 1000) : test::granite();
  rock.isotropic = what.rheology != Rheology::anisotropic;
  if (what.rheology == Rheology::attenuating) rock.quality_mu = 40, rock = unrelaxed(rock, 1, 1, "rock");
  p.relaxation_middle = 1;
  p.mesh = test::cubes({side, side, side}, 100, rock);
  if (what.trilinear) test::shake(p.mesh, 15);
  p.precision = what.precision;
  p.sums = what.sums;
  p.step = 1e-3;
  p.end = 1;
  Alone alone;
  const auto field = make_field(p, make_part(p, 0, 1), options, alone);
  field->load_courses({});
  const auto now = [&] {
    field->wait();
    if (options.device.kind == Device::Kind::cpu) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  for (int n = 0; n < steps / 10 + 1; ++n) field->step();
  double best = 0;
  for (int run = 0; run < 3; ++run) {
    const double begin = now();
    for (int n = 0; n < steps; ++n) field->step();
    best = std::max(best, static_cast<double>(p.mesh.size()) * steps / (now() - begin));
  }
  return best;
}

constexpr Precision in_float = Precision::single_precision, twice = Precision::double_precision;

TEST(LongElasticSpeed, OnTheCpuIsFiveTimesThatOfTheSlowTwinAndMore) {
  constexpr SpeedCase cases[] = {
      {"linear map, isotropic, single", false, Rheology::isotropic, in_float, Sums::fixed},
      {"eight corners, isotropic, single", true, Rheology::isotropic, in_float, Sums::fixed},
      {"eight corners, 21 constants, single", true, Rheology::anisotropic, in_float, Sums::fixed},
      {"eight corners, isotropic, double", true, Rheology::isotropic, twice, Sums::fixed}};
  for (const auto& c : cases) {
    FieldOptions kernels, plain;
    kernels.threads = plain.threads = 1;
    plain.plain = true;
    const double fast = speed(c, 16, kernels, 10), slow = speed(c, 8, plain, 2);
    std::printf("%-40s %9.0f element steps per second of a core, slow twin %7.0f (%.1f times)\n", c.name,
                fast, slow, fast / slow);
    EXPECT_GT(fast, 5 * slow);
  }
}

TEST(LongElasticSpeed, OnAGpu) {
  if (resolve({}).kind != Device::Kind::cuda) GTEST_SKIP() << "there is no GPU";
  constexpr SpeedCase cases[] = {
      {"linear map, isotropic, single, fixed", false, Rheology::isotropic, in_float, Sums::fixed},
      {"linear map, isotropic, single, fast", false, Rheology::isotropic, in_float, Sums::fast},
      {"eight corners, isotropic, single, fixed", true, Rheology::isotropic, in_float, Sums::fixed},
      {"eight corners, isotropic, single, fast", true, Rheology::isotropic, in_float, Sums::fast},
      {"eight corners, 21 constants, single, fixed", true, Rheology::anisotropic, in_float, Sums::fixed},
      {"eight corners, 21 constants, single, fast", true, Rheology::anisotropic, in_float, Sums::fast},
      {"linear map, 21 constants, single, fast", false, Rheology::anisotropic, in_float, Sums::fast},
      {"linear map, attenuating, single, fixed", false, Rheology::attenuating, in_float, Sums::fixed},
      {"linear map, fluid, single, fixed", false, Rheology::fluid, in_float, Sums::fixed},
      {"eight corners, fluid, single, fixed", true, Rheology::fluid, in_float, Sums::fixed},
      {"eight corners, fluid, single, fast", true, Rheology::fluid, in_float, Sums::fast},
      {"eight corners, isotropic, double, fixed", true, Rheology::isotropic, twice, Sums::fixed},
      {"eight corners, isotropic, double, fast", true, Rheology::isotropic, twice, Sums::fast}};
  FieldOptions options;
  options.device = resolve({});
  for (const auto& c : cases)
    std::printf("%-45s %7.1f million element steps per second\n", c.name, speed(c, 48, options, 100) / 1e6);
}

}  // namespace
}  // namespace terrane::elastic
