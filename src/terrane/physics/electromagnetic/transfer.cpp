#include "terrane/physics/electromagnetic/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace terrane::electromagnetic {

namespace {

using Z = std::complex<double>;

constexpr std::string_view responses_of_all[] = {"impedance", "apparent_resistivity", "phase", "tipper",
                                                 "phase_tensor"};
constexpr const char* elements[4] = {"ee", "en", "ne", "nn"};
constexpr const char* axes[2] = {"e", "n"};
const std::vector<std::string> on_sites{"frequency", "receiver"};

/// One number of each function.
template <class Get>
auto values_of(const std::vector<TransferFunction>& all, const Get& get) {
  std::vector<decltype(get(all.front(), std::size_t{}))> values;
  for (std::size_t n = 0; n < all.size(); ++n) values.push_back(get(all[n], n));
  return values;
}

}  // namespace

double TransferFunction::apparent_resistivity(std::size_t element, double hertz) const {
  return std::norm(z[element]) / (2 * std::numbers::pi * hertz * 4e-7 * std::numbers::pi);
}
double TransferFunction::phase(std::size_t element) const {
  return std::arg(z[element]) * 180 / std::numbers::pi;
}

std::array<double, 4> TransferFunction::phase_tensor() const {
  const double x[4] = {z[0].real(), z[1].real(), z[2].real(), z[3].real()},
               y[4] = {z[0].imag(), z[1].imag(), z[2].imag(), z[3].imag()};
  const double determinant = x[0] * x[3] - x[1] * x[2];
  return {(x[3] * y[0] - x[1] * y[2]) / determinant, (x[3] * y[1] - x[1] * y[3]) / determinant,
          (x[0] * y[2] - x[2] * y[0]) / determinant, (x[0] * y[3] - x[2] * y[1]) / determinant};
}

std::vector<Source> both_polarisations() {
  return {{Source::Kind::plane_wave, {}, {1, 0, 0}, 1}, {Source::Kind::plane_wave, {}, {0, 1, 0}, 1}};
}
std::vector<Component> recorded_of_plane_waves() {
  return {{false, 2}, {false, 1}, {true, 2}, {true, 1}, {true, 0}};
}
bool is_magnetotelluric(const Problem& problem) {
  const auto plane = [](const Source& source) { return source.kind == Source::Kind::plane_wave; };
  return problem.sources.size() == 2 && std::all_of(problem.sources.begin(), problem.sources.end(), plane) &&
         problem.components == recorded_of_plane_waves();
}

std::vector<TransferFunction> transfer_functions(const Problem& problem, const Outcome& outcome) {
  const std::size_t receivers = problem.receivers.size(), frequencies = problem.frequencies.size(),
                    each = problem.data_of_a_solve();
  std::vector<TransferFunction> all(frequencies * receivers);
  for (std::size_t f = 0; f < frequencies; ++f)
    for (std::size_t n = 0; n < receivers; ++n) {
      // Component c of polarisation p.
      const auto field = [&](std::size_t c, std::size_t p) {
        return outcome.data[(p * frequencies + f) * each + c * receivers + n];
      };
      const Z determinant = field(2, 0) * field(3, 1) - field(2, 1) * field(3, 0);
      // (row of two polarisations) H⁻¹
      const auto over_h = [&](std::size_t c) {
        return std::array<Z, 2>{(field(c, 0) * field(3, 1) - field(c, 1) * field(3, 0)) / determinant,
                                (field(c, 1) * field(2, 0) - field(c, 0) * field(2, 1)) / determinant};
      };
      const auto east = over_h(0), north = over_h(1);
      all[f * receivers + n] = {{east[0], east[1], north[0], north[1]}, over_h(4)};
    }
  return all;
}

std::span<const std::string_view> names_of_responses() { return responses_of_all; }

std::vector<Variable> response_variables(const Problem& problem, const std::vector<TransferFunction>& all,
                                         const std::vector<std::string>& responses) {
  const auto hertz = [&](std::size_t n) { return problem.frequencies[n / problem.receivers.size()]; };
  std::vector<Variable> made;
  const auto add = [&](std::string name, const char* unit, std::string long_name, Values values) {
    made.push_back({std::move(name), unit, std::move(long_name), on_sites, std::move(values), {}});
  };
  for (const auto& response : responses)
    for (std::size_t c = 0; c < 4; ++c) {
      const std::string pair = elements[c];
      if (response == "impedance")
        add("z_" + pair, "ohm", "impedance " + pair,
            values_of(all, [&](const auto& t, std::size_t) { return t.z[c]; }));
      else if (response == "apparent_resistivity")
        add("rho_" + pair, "ohm m", "apparent resistivity " + pair,
            values_of(all,
                      [&](const auto& t, std::size_t n) { return t.apparent_resistivity(c, hertz(n)); }));
      else if (response == "phase")
        add("phase_" + pair, "degree", "phase of the impedance " + pair,
            values_of(all, [&](const auto& t, std::size_t) { return t.phase(c); }));
      else if (response == "phase_tensor")
        add("phase_tensor_" + pair, "1", "phase tensor " + pair,
            values_of(all, [&](const auto& t, std::size_t) { return t.phase_tensor()[c]; }));
      else if (response == "tipper" && c < 2)
        add(fmt::format("tipper_{}", axes[c]), "1", fmt::format("vertical field of the {} one", axes[c]),
            values_of(all, [&](const auto& t, std::size_t) { return t.tipper[c]; }));
    }
  return made;
}

}  // namespace terrane::electromagnetic
