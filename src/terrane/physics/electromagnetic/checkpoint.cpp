#include "terrane/physics/electromagnetic/checkpoint.hpp"

#include <fmt/format.h>

#include <array>
#include <complex>
#include <span>

namespace terrane::electromagnetic {

namespace {

using Z = std::complex<double>;

constexpr std::size_t numbers_of_a_solve = 8;

std::array<double, numbers_of_a_solve> numbers_kept(const Solve& s) {
  return {static_cast<double>(s.reason),
          static_cast<double>(s.iterations),
          s.residual,
          s.change,
          s.divergence,
          s.divergence_in_earth,
          s.divergence_in_air,
          s.rough ? 1.0 : 0.0};
}

Solve kept_solve(std::span<const double> n) {
  return {static_cast<solve::Reason>(static_cast<int>(n[0])),
          static_cast<int>(n[1]),
          n[2],
          n[3],
          n[4],
          n[5],
          n[6],
          n[7] != 0};
}

/// Complex numbers as pairs of real ones.
std::span<const double> as_pairs(const Z* first, std::size_t count) {
  return {reinterpret_cast<const double*>(first), 2 * count};
}

void keep_values(CheckpointWriter& writer, std::string_view name, const Problem& problem, std::size_t done,
                 std::size_t each, const std::vector<Z>& values) {
  writer.define<double>(name, {done, 2 * each});
  for (std::size_t turn = 0; turn < done && each > 0; ++turn)
    writer.piece(name, as_pairs(values.data() + problem.solve_at(turn) * each, each));
}

void take_values(CheckpointReader& in, std::string_view name, const Problem& problem, std::size_t each,
                 std::vector<Z>& values) {
  for (std::size_t turn = 0; turn < in.parts() && each > 0; ++turn)
    in.read<double>(name, {in.parts(), 2 * each}, turn * 2 * each,
                    {reinterpret_cast<double*>(values.data() + problem.solve_at(turn) * each), 2 * each});
}

}  // namespace

Fingerprint fingerprint(const Problem& p) {
  std::vector<double> sent, recorded;
  for (const auto& source : p.sources) {
    sent.insert(sent.end(), {static_cast<double>(source.kind), source.current,
                             static_cast<double>(source.points.size())});
    sent.insert(sent.end(), source.moment.begin(), source.moment.end());
    for (const auto& point : source.points) sent.insert(sent.end(), point.begin(), point.end());
  }
  for (const auto& place : p.receivers) recorded.insert(recorded.end(), place.begin(), place.end());
  for (const auto& component : p.components)
    recorded.insert(recorded.end(), {component.magnetic ? 1.0 : 0.0, static_cast<double>(component.axis)});
  recorded.insert(recorded.end(),
                  {p.electric_volume ? 1.0 : 0.0, p.magnetic_volume ? 1.0 : 0.0, p.edge_volume ? 1.0 : 0.0});
  const auto& [up, north, east] = p.conductivity;
  const auto& [up_imaginary, north_imaginary, east_imaginary] = p.quadrature;
  return {this_program(),
          {"mesh", hash({p.mesh.easting(), p.mesh.northing(), p.mesh.up()}), true},
          {"rock",
           hash({up, north, east, up_imaginary, north_imaginary, east_imaginary, p.chargeability,
                 p.charge_time, p.charge_exponent, p.contrasts}),
           true},
          {"sources", hash({sent}), true},
          {"frequencies", hash({p.frequencies}), true},
          {"receivers or channels", hash({recorded}), true},
          {"tolerance", fmt::format("{}", p.parameters.tolerance)},
          {"receiver_tolerance", fmt::format("{}", p.parameters.receiver_tolerance)},
          {"most iterations", fmt::format("{}", p.parameters.most_iterations)},
          {"smoothing of rough earths", fmt::format("{}", static_cast<int>(p.parameters.rough))},
          {"field", p.parameters.field == Field::total ? "total" : "secondary"},
          {"strike", fmt::format("{}", static_cast<int>(p.parameters.strike))}};
}

void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const Outcome& out) {
  CheckpointWriter writer(file, fingerprint(problem), done);
  writer.define<double>("solves", {done, numbers_of_a_solve});
  for (std::size_t turn = 0; turn < done; ++turn) {
    const auto one = numbers_kept(out.solves[problem.solve_at(turn)]);
    writer.piece("solves", std::span<const double>(one));
  }
  keep_values(writer, "data", problem, done, problem.data_of_a_solve(), out.data);
  keep_values(writer, "volume", problem, done, problem.volume_of_a_solve(), out.volume);
  writer.finish();
}

std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& problem, Outcome& out) {
  auto in = CheckpointReader::open(file);
  if (!in) {
    out.warnings.push_back(fmt::format("there is no checkpoint {}: the run starts afresh", file.string()));
    return 0;
  }
  in->expect(fingerprint(problem));
  in->expect_parts(problem.solves());
  const auto all = in->array<double>("solves", {in->parts(), numbers_of_a_solve});
  for (std::size_t turn = 0; turn < in->parts(); ++turn)
    out.solves[problem.solve_at(turn)] =
        kept_solve(std::span(all).subspan(turn * numbers_of_a_solve, numbers_of_a_solve));
  take_values(*in, "data", problem, problem.data_of_a_solve(), out.data);
  take_values(*in, "volume", problem, problem.volume_of_a_solve(), out.volume);
  out.notes.push_back(fmt::format("resumed from {}, with {} of {} solves done", file.string(), in->parts(),
                                  problem.solves()));
  return in->parts();
}

}  // namespace terrane::electromagnetic
