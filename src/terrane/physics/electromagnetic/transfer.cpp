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

/// One value of each transfer function, computed by get(function, index).
template <class Get>
auto values_of(const std::vector<TransferFunction>& all, const Get& get) {
  std::vector<decltype(get(all.front(), std::size_t{}))> values;
  for (std::size_t n = 0; n < all.size(); ++n) values.push_back(get(all[n], n));
  return values;
}

/// Indices in recorded_of_plane_waves() of the components that depend linearly on horizontal H: E_e, E_n,
/// H_u.
constexpr std::size_t answers[3] = {0, 1, 4};

/// Calls visit(frequency, receiver) in the order of transfer functions.
template <class Visit>
void for_sites(const Problem& problem, const Visit& visit) {
  for (std::size_t f = 0; f < problem.frequencies.size(); ++f)
    for (std::size_t n = 0; n < problem.receivers.size(); ++n) visit(f, n);
}

/// The index of a datum in Outcome::data.
std::size_t place(const Problem& problem, std::size_t polarisation, std::size_t f, std::size_t component,
                  std::size_t n) {
  return (polarisation * problem.frequencies.size() + f) * problem.data_of_a_solve() +
         component * problem.receivers.size() + n;
}

/// H⁻¹ of the horizontal magnetic fields at a site, [polarisation][H_e, H_n].
std::array<std::array<Z, 2>, 2> inverse_of_h(const Problem& problem, const std::vector<Z>& data,
                                             std::size_t f, std::size_t n) {
  const auto h = [&](std::size_t c, std::size_t p) { return data[place(problem, p, f, 2 + c, n)]; };
  const Z determinant = h(0, 0) * h(1, 1) - h(0, 1) * h(1, 0);
  return {{{h(1, 1) / determinant, -h(0, 1) / determinant}, {-h(1, 0) / determinant, h(0, 0) / determinant}}};
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
  std::vector<TransferFunction> all;
  for_sites(problem, [&](std::size_t f, std::size_t n) {
    const auto h = inverse_of_h(problem, outcome.data, f, n);
    std::array<std::array<Z, 2>, 3> rows{};
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 2; ++c)
        for (std::size_t p = 0; p < 2; ++p)
          rows[r][c] += outcome.data[place(problem, p, f, answers[r], n)] * h[p][c];
    all.push_back({{rows[0][0], rows[0][1], rows[1][0], rows[1][1]}, rows[2]});
  });
  return all;
}

std::complex<double> number(const TransferFunction& function, std::size_t which) {
  return which < 4 ? function.z[which] : function.tipper[which - 4];
}

SumOfFields change_of(const Problem& problem, const Outcome& outcome, std::size_t f, std::size_t n,
                      const TransferFunction& there, std::size_t which) {
  const auto h = inverse_of_h(problem, outcome.data, f, n);
  const std::size_t row = which / 2, column = which % 2;  // row: 0 Z_e, 1 Z_n, 2 T; column: 0 H_e, 1 H_n
  SumOfFields sum;
  for (std::size_t p = 0; p < 2; ++p) {
    sum.push_back({place(problem, p, f, answers[row], n), h[p][column]});
    for (std::size_t k = 0; k < 2; ++k)
      sum.push_back({place(problem, p, f, 2 + k, n), -number(there, 2 * row + k) * h[p][column]});
  }
  return sum;
}

std::vector<TransferFunction> transfer_function_changes(const Problem& problem, const Outcome& outcome,
                                                        const std::vector<Z>& changes) {
  const auto all = transfer_functions(problem, outcome);
  std::vector<TransferFunction> made;
  for_sites(problem, [&](std::size_t f, std::size_t n) {
    const auto h = inverse_of_h(problem, outcome.data, f, n);
    const auto& site = all[made.size()];
    const std::array<std::array<Z, 2>, 3> t{{{site.z[0], site.z[1]}, {site.z[2], site.z[3]}, site.tipper}};
    std::array<std::array<Z, 2>, 3> rows{};
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t p = 0; p < 2; ++p) {
        Z left = changes[place(problem, p, f, answers[r], n)];
        for (std::size_t k = 0; k < 2; ++k) left -= t[r][k] * changes[place(problem, p, f, 2 + k, n)];
        for (std::size_t c = 0; c < 2; ++c) rows[r][c] += left * h[p][c];
      }
    made.push_back({{rows[0][0], rows[0][1], rows[1][0], rows[1][1]}, rows[2]});
  });
  return made;
}

std::vector<Z> weights_of_fields(const Problem& problem, const Outcome& outcome,
                                 const std::vector<TransferFunction>& w) {
  const auto all = transfer_functions(problem, outcome);
  std::vector<Z> weights(outcome.data.size(), 0.0);
  std::size_t number = 0;
  for_sites(problem, [&](std::size_t f, std::size_t n) {
    const auto h = inverse_of_h(problem, outcome.data, f, n);
    const auto rows = [](const TransferFunction& site) {
      return std::array<std::array<Z, 2>, 3>{{{site.z[0], site.z[1]}, {site.z[2], site.z[3]}, site.tipper}};
    };
    const auto t = rows(all[number]), of = rows(w[number]);
    ++number;
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t p = 0; p < 2; ++p) {
        const Z weight = of[r][0] * h[p][0] + of[r][1] * h[p][1];
        weights[place(problem, p, f, answers[r], n)] += weight;
        for (std::size_t k = 0; k < 2; ++k) weights[place(problem, p, f, 2 + k, n)] -= weight * t[r][k];
      }
  });
  return weights;
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
