// Steps of elastic waves of degree 4: microseconds, and millions of elements per second.
//
//   devices_elastic [device] [elements a side ...]      prints JSON; without a device the CPU
//
// As a run takes them: twenty steps, their sources sent before and their seismograms fetched after, recorded
// as one graph on a GPU. Of the first cases one has no source, one a source and a receiver, and two have more
// receivers: what these cost shows. A fault has 100,000 sources.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/elastic_meshes.hpp"
#include "terrane/physics/elastic/march/field.hpp"
#include "terrane/physics/elastic/medium/attenuation.hpp"

namespace terrane::elastic {
namespace {

using Time = std::chrono::steady_clock;

enum class Sides { free, stacey, matched };
struct Case {
  const char* name;
  Rheology rheology = Rheology::isotropic;
  bool trilinear = false;
  Precision precision = Precision::single_precision;
  Sums sums = Sums::fixed;
  std::size_t receivers = 0;  // and a source, where there are any
  Sides sides = Sides::free;
  bool sea = false;       // the upper half is water
  std::size_t parts = 0;  // of a fault: moments over an upright plane
};

Problem cube(const Case& what, std::size_t side) {
  Problem p;
  const bool fluid = is_potential(what.rheology);
  auto rock = fluid ? Medium::from_speeds(1500, 0, 1000) : test::granite();
  rock.isotropic = what.rheology != Rheology::anisotropic && what.rheology != Rheology::lossy;
  if (attenuates(what.rheology)) rock.quality_mu = 40, rock = unrelaxed(rock, 1, 1, "rock");
  p.relaxation_middle = 1;
  p.fading_frequency = 2;
  p.mesh = test::cubes({side, side, side}, 100, rock);
  if (what.trilinear) test::shake(p.mesh, 15);
  for (std::uint32_t n = 0; n < p.mesh.size() && point_numbers(what.rheology) > 0; ++n) {
    p.mesh.variation.push_back(n);
    p.mesh.at_points.insert(p.mesh.at_points.end(), p.points_of_element(), rock.point());
  }
  const std::size_t layer = side * side;
  if (what.sea) {
    p.mesh.media.push_back(Medium::from_speeds(1500, 0, 1000));
    for (std::size_t n = side / 2 * layer; n < p.mesh.size(); ++n) p.mesh.medium[n] = 1;
  }
  if (what.sides != Sides::free)
    for (std::uint32_t n = 0; n < p.mesh.size(); ++n) {
      const std::size_t at[3] = {n % side, n / side % side, n / layer};
      for (std::uint32_t d = 0; d < 3; ++d) {
        if (at[d] == 0) p.mesh.absorbing.push_back({n, 2 * d});
        if (at[d] == side - 1 && d < 2) p.mesh.absorbing.push_back({n, 2 * d + 1});
      }
    }
  if (what.sides == Sides::matched) add_margins(p.mesh, 3);
  p.precision = what.precision;
  p.sums = what.sums;
  p.step = 1e-3;
  p.end = 1;
  const double length = 100.0 * static_cast<double>(side);
  if (what.receivers > 0)
    p.sources = {{{length / 2 + 3, length / 2 + 4, length / 2 + 2},
                  false,
                  {1e9, -2e9, 3e9, 0, 0, 0},
                  {Pulse::ricker, 2, 0.3, {}}}};
  for (std::size_t n = 0; n < what.parts; ++n)
    p.sources.push_back(
        {{length * (0.1 + 0.8 * std::fmod(0.618034 * static_cast<double>(n), 1.0)), length / 2 + 4,
          length * (0.1 + 0.8 * static_cast<double>(n) / static_cast<double>(what.parts))},
         true,
         {0, 0, 0, 1e12, 0, 1e12},
         {Pulse::step, 0.2, 0.3, {}}});
  for (std::size_t n = 0; n < what.receivers; ++n)
    p.receivers.push_back({length * (0.05 + 0.9 * std::fmod(0.618 * static_cast<double>(n), 1.0)),
                           length * (0.05 + 0.9 * std::fmod(0.414 * static_cast<double>(n), 1.0)),
                           length - 40});
  const Locator locator(p.mesh);
  for (const auto& s : p.sources) p.source_places.push_back(locator.find(s.at, "source"));
  for (const auto& r : p.receivers) p.receiver_places.push_back(locator.find(r, "receiver"));
  return p;
}

std::string run(Device device, const Case& what, std::size_t side) {
  constexpr std::size_t rows = 20;
  const auto p = cube(what, side);
  Alone alone;
  const auto field = make_field(p, make_part(p, 0, 1), {device, 0, rows}, alone);
  const std::vector<double> courses(rows * p.sources.size(), 1.0);
  const auto go = [&] {
    field->load_courses(courses);
    field->steps(rows);
    if (!p.receivers.empty()) field->take_series();
  };
  const auto elements = static_cast<double>(p.mesh.size());
  const int times = device.kind == Device::Kind::cuda ? std::max(3, static_cast<int>(2e6 / elements)) : 1;
  for (int n = 0; n < 3; ++n) go();
  double best = 1e300;
  for (int repeat = 0; repeat < 8; ++repeat) {
    field->wait();
    const auto begin = Time::now();
    for (int n = 0; n < times; ++n) go();
    field->wait();
    const double seconds = std::chrono::duration<double>(Time::now() - begin).count();
    best = std::min(best, seconds / (times * static_cast<int>(rows)));
  }
  return fmt::format(
      "    {{\"what\": \"{}\", \"elements\": {}, \"precision\": \"{}\", \"sums\": \"{}\", \"receivers\": {}, "
      "\"microseconds_per_step\": {:.2f}, \"million_elements_per_second\": {:.1f}}}",
      what.name, p.mesh.size(), what.precision == Precision::single_precision ? "single" : "double",
      what.sums == Sums::fixed ? "fixed" : "fast", what.receivers, best * 1e6, elements / best / 1e6);
}

constexpr auto twice = Precision::double_precision;
const std::vector<Case> cases{
    {"linear map"},
    {.name = "linear map", .receivers = 1},
    {.name = "linear map", .receivers = 10},
    {.name = "linear map", .receivers = 10000},
    {.name = "a fault of 100,000 parts", .receivers = 1, .parts = 100000},
    {.name = "linear map", .sums = Sums::fast, .receivers = 1},
    {.name = "linear map", .precision = twice, .receivers = 1},
    {.name = "eight corners", .trilinear = true, .receivers = 1},
    {.name = "21 constants", .rheology = Rheology::anisotropic, .receivers = 1},
    {.name = "with a Q", .rheology = Rheology::attenuating, .receivers = 1},
    {.name = "21 constants with a Q", .rheology = Rheology::lossy, .receivers = 1},
    {.name = "21 constants with a Q", .rheology = Rheology::lossy, .precision = twice, .receivers = 1},
    {.name = "fluid", .rheology = Rheology::fluid, .receivers = 1},
    {.name = "rock at points", .rheology = Rheology::varying, .receivers = 1},
    {.name = "rock at points with a Q", .rheology = Rheology::varying_attenuating, .receivers = 1},
    {.name = "fluid at points", .rheology = Rheology::varying_fluid, .receivers = 1},
    {.name = "a sea over rock", .receivers = 1, .sea = true},
    {.name = "five Stacey sides", .receivers = 10, .sides = Sides::stacey},
    {.name = "five matched sides", .receivers = 1, .sides = Sides::matched},
    {.name = "five matched sides", .precision = twice, .receivers = 1, .sides = Sides::matched},
};

}  // namespace
}  // namespace terrane::elastic

int main(int count, char** words) {
  using namespace terrane;
  const auto device = resolve(device_from_text(count > 1 ? words[1] : "cpu"));
  std::vector<std::size_t> sides;
  for (int n = 2; n < count; ++n) sides.push_back(static_cast<std::size_t>(std::atoi(words[n])));
  if (sides.empty()) sides = {device.kind == Device::Kind::cuda ? 40u : 16u};
  fmt::print("{{\n  \"device\": \"{}\",\n  \"runs\": [\n", device_name(device));
  bool first = true;
  for (const auto side : sides)
    for (const auto& what : elastic::cases) {
      fmt::print("{}{}", first ? "" : ",\n", elastic::run(device, what, side));
      std::fflush(stdout);
      first = false;
    }
  fmt::print("\n  ]\n}}\n");
}
