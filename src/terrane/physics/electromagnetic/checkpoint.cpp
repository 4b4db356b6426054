#include "terrane/physics/electromagnetic/checkpoint.hpp"

#include <array>
#include <complex>
#include <span>

#include "terrane/simulation/field_facts.hpp"

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

/// Complex numbers as pairs of real and imaginary parts.
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

Fingerprint fingerprint(const Problem& p) { return fingerprint_of(p); }

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
  auto in = CheckpointReader::resume(file, fingerprint(problem), problem.solves(), "solves", out);
  if (!in) return 0;
  const auto all = in->array<double>("solves", {in->parts(), numbers_of_a_solve});
  for (std::size_t turn = 0; turn < in->parts(); ++turn)
    out.solves[problem.solve_at(turn)] =
        kept_solve(std::span(all).subspan(turn * numbers_of_a_solve, numbers_of_a_solve));
  take_values(*in, "data", problem, problem.data_of_a_solve(), out.data);
  take_values(*in, "volume", problem, problem.volume_of_a_solve(), out.volume);
  return in->parts();
}

}  // namespace terrane::electromagnetic
