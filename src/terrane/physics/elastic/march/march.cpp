#include "terrane/physics/elastic/march/march.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/elastic/march/checkpoint.hpp"
#include "terrane/physics/elastic/march/field.hpp"
#include "terrane/physics/elastic/march/snapshots.hpp"
#include "terrane/simulation/field_watch.hpp"
#include "terrane/simulation/on_ranks.hpp"
#include "terrane/simulation/steps.hpp"

namespace terrane::elastic {

namespace {

/// Values of every source's course at the beginning of each step, [steps][sources].
std::vector<double> courses_of(const Problem& problem) {
  const std::size_t steps = problem.steps_taken(), sources = problem.sources.size();
  std::vector<double> all(steps * sources);
  const auto shift = FrequencyShift::to_leapfrog(steps);
  for_each(sources, 0, [&](std::size_t s) {
    const auto& course = problem.sources[s].course;
    const auto at = [&](std::size_t n) {
      return course.at(problem.begin + static_cast<double>(n) * problem.step);
    };
    std::vector<double> changes(steps);
    for (std::size_t n = 0; n < steps; ++n) changes[n] = at(n + 1) - at(n);
    if (problem.remove_dispersion) changes = shift(changes);
    double now = at(0);
    for (std::size_t n = 0; n < steps; ++n) {
      all[n * sources + s] = now;
      now += changes[n];
    }
  });
  return all;
}

/// The number of steps after which sources hardly act (FieldWatch::quiet_after): every force, and every
/// change of a moment over a step, stays below 1e-3 of its largest value.
std::size_t quiet_after(const Problem& problem, const std::vector<double>& courses) {
  const std::size_t sources = problem.sources.size(), steps = problem.steps_taken();
  const auto push = [&](std::size_t n, std::size_t s) {
    const double now = courses[n * sources + s];
    return std::fabs(problem.sources[s].is_moment && n > 0 ? now - courses[(n - 1) * sources + s] : now);
  };
  std::vector<double> most(sources);
  for (std::size_t n = 0; n < steps; ++n)
    for (std::size_t s = 0; s < sources; ++s) most[s] = std::max(most[s], push(n, s));
  std::size_t first = steps, last = 0;
  for (std::size_t n = 0; n < steps; ++n)
    for (std::size_t s = 0; s < sources; ++s)
      if (push(n, s) > 1e-3 * most[s]) first = std::min(first, n), last = n + 1;
  return FieldWatch::quiet_after(first, last);
}

/// The rank's part; on the CPU contributions are summed in a fixed order, whatever problem.sums is.
Part part_of(const Problem& problem, const RankPlace& place) {
  const bool ordered = problem.sums == Sums::fixed || place.device.kind == Device::Kind::cpu;
  return make_part(problem, place.comm.rank(), place.comm.size(), place.threads, ordered);
}

/// One rank's part of the run, and the results that it sends to rank 0.
class Rank {
 public:
  /// before: the state that a resumed run begins with; on rank 0 it receives the records of all ranks.
  Rank(const Problem& problem, const RankPlace& place, Outcome& before)
      : problem_(problem),
        comm_(place.comm),
        out_(before),
        courses_(courses_of(problem)),
        field_(make_field(problem, part_of(problem, place), {place.device, place.threads, rows_at_once},
                          comm_)) {
    // A resumed run does not know how large its fields were before: for at least 100 steps it only measures
    // them, and does not yet compare them with a bound.
    const auto first = before.first_step;
    const auto quiet = std::max(quiet_after(problem, courses_), first > 0 ? first + 100 : 0);
    solid_ = FieldWatch(first, quiet), fluid_ = FieldWatch(first, quiet);
    if (problem.pictures() > 0) {
      sight_.emplace(problem, picture_of(problem), *field_);
    }
    if (before.first_step == 0) return;
    const auto& part = field_->part();
    const std::size_t each = problem.points_of_element();
    Field::State state{std::vector<double>(3 * part.points), std::vector<double>(3 * part.points)};
    const auto kept = memory_begins(problem);
    for (const auto element : part.elements)
      if (!before.memory.empty())
        state.memory.insert(state.memory.end(),
                            before.memory.begin() + static_cast<std::ptrdiff_t>(kept[element]),
                            before.memory.begin() + static_cast<std::ptrdiff_t>(kept[element + 1]));
    for (std::size_t e = 0; e < part.elements.size(); ++e)
      for (std::size_t k = 0; k < 3 * each; ++k) {
        const std::size_t from = part.elements[e] * 3 * each + k,
                          to = 3 * part.point[e * each + k / 3] + k % 3;
        state.displacement[to] = before.displacement[from];
        state.change[to] = before.change[from];
      }
    for (const auto& far : part.far)
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t from = 3 * (far.element * each + far.n) + c, to = 3 * far.point + c;
        state.displacement[to] = before.displacement[from];
        state.change[to] = before.change[from];
      }
    field_->set_state(state);
  }

  /// Computes steps from `first` on, at most to the next snapshot, and collects the records. Returns the
  /// number of steps done then.
  std::size_t advance(std::size_t first) {
    std::size_t last = std::min(first + rows_at_once, problem_.steps_taken());
    if (const auto every = problem_.snapshots.every; every > 0)
      last = std::min(last, (first / every + 1) * every);
    const std::size_t sources = problem_.sources.size();
    field_->load_courses(std::span(courses_).subspan(first * sources, (last - first) * sources));
    field_->steps(last - first);
    std::vector<std::uint32_t> receivers;
    for (const auto& r : field_->part().receivers) receivers.push_back(r.receiver);
    const std::size_t all = 3 * problem_.receivers.size();
    bring(receivers, field_->take_series(),
          [&](std::uint32_t receiver, std::size_t row, const double* value) {
            std::copy(value, value + 3, &out_.changes[(first + row) * all + 3 * receiver]);
          });
    if (sight_ && last % problem_.snapshots.every == 0 && last <= problem_.steps()) {
      std::vector<float> picture(comm_.rank() == 0 ? out_.pictures.numbers() : 0);
      bring(sight_->points(), sight_->values(), [&](std::uint32_t point, std::size_t, const float* value) {
        std::copy(value, value + 3, picture.begin() + 3 * std::ptrdiff_t{point});
      });
      if (comm_.rank() == 0) out_.pictures.put(last / problem_.snapshots.every - 1, picture);
    }
    return last;
  }

  /// Collective, after `done` steps: returns an error, on all ranks, if velocities or potentials are NaN or
  /// exceed their bound; else none.
  std::optional<InputError> lost(std::size_t done) {
    if (!solid_.due(done) && done < problem_.steps_taken()) return {};
    const auto mine = field_->largest();
    const std::array<double, 2> all{comm_.highest(mine[0]), comm_.highest(mine[1])};
    const bool lost[2] = {solid_.lost(done, all[0]), fluid_.lost(done, all[1])};
    if (!lost[0] && !lost[1]) return {};
    const auto place = largest_of(comm_, largest_place(!lost[0]));
    const auto& margins = problem_.mesh.margins;
    const bool matched =
        std::any_of(margins.begin(), margins.end(), [](const Margin& m) { return m.from != m.to; });
    return lost_field(
        matched ? "elastic: boundary" : "elastic: step", lost[0] ? "velocities" : "potentials",
        lost[0] ? "m/s" : "Pa s", done, problem_.begin + static_cast<double>(done) * problem_.step, place,
        matched ? "Matched layers beside these media let waves grow: take boundary = \"stacey\"."
                : "The steps were too long for the mesh, or the source too strong for single "
                  "precision.");
  }

  std::string transport() const { return field_->transport(); }

  /// Collects the state of all elements on rank 0.
  void gather(Outcome& out) {
    const auto& part = field_->part();
    const std::size_t each = problem_.points_of_element();
    const auto state = field_->state();
    std::vector<double> at_points[2];
    for (std::size_t n = 0; n < part.point.size(); ++n)
      for (std::size_t c = 0; c < 3; ++c) {
        at_points[0].push_back(state.displacement[3 * part.point[n] + c]);
        at_points[1].push_back(state.change[3 * part.point[n] + c]);
      }
    std::vector<std::size_t> begins;
    for (std::size_t n = 0; n <= problem_.mesh.size(); ++n) begins.push_back(3 * each * n);
    collect(at_points[0], begins, out.displacement);
    collect(at_points[1], begins, out.change);
    begins = memory_begins(problem_);
    if (begins.back() > 0) collect(state.memory, begins, out.memory);
  }

 private:
  /// Sends rows of vectors from all ranks to rank 0, which calls put(which, row, vector) for each. which: the
  /// receiver or point of each vector in a row.
  template <class T, class Put>
  void bring(const std::vector<std::uint32_t>& which, const std::vector<T>& rows, const Put& put) {
    const auto all_which = comm_.gather(std::as_bytes(std::span(which)), 0);
    const auto all_rows = comm_.gather(std::as_bytes(std::span(rows)), 0);
    if (comm_.rank() != 0) return;
    for (std::size_t rank = 0; rank < all_rows.size(); ++rank) {
      std::vector<std::uint32_t> its(all_which[rank].size() / sizeof(std::uint32_t));
      std::vector<T> values(all_rows[rank].size() / sizeof(T));
      if (!its.empty()) std::memcpy(its.data(), all_which[rank].data(), all_which[rank].size());
      if (!values.empty()) std::memcpy(values.data(), all_rows[rank].data(), all_rows[rank].size());
      for (std::size_t n = 0; 3 * n < values.size(); ++n)
        put(its[n % its.size()], n / its.size(), &values[3 * n]);
    }
  }

  /// Sends the values of all elements from all ranks to rank 0. begins: index in `out` of each element's
  /// first value, and the length of `out`.
  void collect(const std::vector<double>& mine, const std::vector<std::size_t>& begins,
               std::vector<double>& out) {
    const auto elements = comm_.gather(std::as_bytes(std::span(field_->part().elements)), 0);
    const auto all = comm_.gather(std::as_bytes(std::span(mine)), 0);
    if (comm_.rank() != 0) return;
    out.resize(begins.back());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const std::byte* from = all[rank].data();
      for (std::size_t e = 0; e < elements[rank].size() / sizeof(std::uint32_t); ++e) {
        std::uint32_t element = 0;
        std::memcpy(&element, elements[rank].data() + e * sizeof element, sizeof element);
        const std::size_t bytes = (begins[element + 1] - begins[element]) * sizeof(double);
        if (bytes > 0) std::memcpy(out.data() + begins[element], from, bytes);
        from += bytes;
      }
    }
  }

  /// The largest |w| / Δt, and its position, among this rank's own elements of solids, or of fluids.
  FieldPlace largest_place(bool fluid) {
    const auto& part = field_->part();
    const Basis basis(problem_.degree);
    const auto points = static_cast<std::size_t>(basis.points());
    const std::size_t each = problem_.points_of_element();
    const auto change = field_->state().change;
    FieldPlace most{-1, {}};
    for (std::size_t e = 0; e < part.elements.size(); ++e)
      for (std::size_t n = 0; n < each; ++n) {
        if (problem_.mesh.medium_of(part.elements[e]).is_fluid() != fluid) break;
        const double* const w = &change[3 * part.point[e * each + n]];
        const double value = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / problem_.step;
        if (value < most.value) continue;
        const Vector xi{basis.x[n % points], basis.x[n / points % points], basis.x[n / points / points]};
        const FieldPlace one{value, problem_.mesh.element(part.elements[e]).at(xi)};
        if (one.comes_before(most)) most = one;
      }
    return most;
  }

  const Problem& problem_;
  Comm& comm_;
  Outcome& out_;
  std::vector<double> courses_;
  FieldWatch solid_, fluid_;
  std::unique_ptr<Field> field_;
  std::optional<Sight> sight_;
};

}  // namespace

Outcome march(const Problem& problem, const Runtime& runtime, Keep what) {
  const auto& keeping = runtime.checkpoint;
  Outcome out;
  if (problem.pictures() > 0)
    out.pictures = Pictures(problem.pictures(), 3 * picture_of(problem).size(), keeping.file);
  if (keeping.resume && !keeping.file.empty()) out.first_step = read_checkpoint(keeping.file, problem, out);
  const auto put = [&](Packet& packet) {
    put_fields(problem, packet);
    packet.put(out.first_step), packet.put(out.displacement), packet.put(out.change), packet.put(out.memory);
    packet.put(what);
  };
  const auto stopped = lead_ranks("elastic", runtime, put, [&](const RankPlace& place) {
    Rank rank(problem, place, out);
    if (const auto transport = rank.transport(); !transport.empty())
      out.notes.push_back("values at shared points " + transport);
    out.changes.resize(problem.steps_taken() * problem.receivers.size() * 3);
    const auto gather = [&](std::size_t) { rank.gather(out); };
    const auto write = [&](const auto& file, std::size_t done) {
      write_checkpoint(file, problem, done, out);
    };
    auto why = lead_steps("elastic", rank, out.first_step, problem.steps_taken(), place.comm, runtime,
                          out.warnings, out.seconds, gather, write);
    if (!why && what == Keep::state) rank.gather(out);
    return why;
  });
  if (stopped)
    std::rethrow_exception(stopped);  // thrown only now, after all ranks have freed their parts
                                      // together
  return out;
}

void serve(Comm& comm) {
  struct Task {
    Problem problem;
    Outcome before;
    Keep what;
  };
  const auto take = [](Packet& packet) {
    Task task{get_fields<Problem>(packet), {}, {}};
    auto& before = task.before;
    get_value(before.first_step, packet), get_value(before.displacement, packet);
    get_value(before.change, packet), get_value(before.memory, packet);
    task.what = packet.get<Keep>();
    return task;
  };
  follow_ranks(comm, take, [](Task& task, const RankPlace& place) {
    Rank rank(task.problem, place, task.before);
    const auto gather = [&](std::size_t) { rank.gather(task.before); };
    const bool done =
        follow_steps(rank, task.before.first_step, task.problem.steps_taken(), place.comm, gather);
    if (done && task.what == Keep::state) rank.gather(task.before);
  });
}

std::vector<double> seismograms(const Problem& problem, const Outcome& outcome, Quantity quantity,
                                int threads) {
  const bool pressure = problem.records_pressure;
  const std::size_t steps = problem.steps(), taken = problem.steps_taken(), each = pressure ? 1 : 3,
                    traces = each * problem.receivers.size();
  std::vector<double> all(traces * steps);
  const auto shift = FrequencyShift::from_leapfrog(taken, pressure                         ? Wanted::value
                                                          : quantity == Quantity::velocity ? Wanted::rate
                                                                                           : Wanted::change);
  for_each(traces, threads, [&](std::size_t trace) {
    std::vector<double> changes(taken);
    for (std::size_t n = 0; n < taken; ++n)
      changes[n] = outcome.changes[n * 3 * problem.receivers.size() + 3 / each * trace];
    const bool rate = quantity == Quantity::velocity;
    if (pressure) {  // pressure is − χ̈, for leapfrog steps exactly the second difference
      for (std::size_t n = taken; n-- > 0;)
        changes[n] = ((n > 0 ? changes[n - 1] : 0) - changes[n]) / (problem.step * problem.step);
      if (problem.remove_dispersion) changes = shift(changes);
      std::copy_n(changes.begin(), steps, all.begin() + static_cast<std::ptrdiff_t>(trace * steps));
      return;
    }
    if (problem.remove_dispersion) changes = shift(changes);
    double sum = 0;
    for (std::size_t n = 0; n < steps; ++n) {
      sum += changes[n];
      all[trace * steps + n] = rate ? changes[n] / problem.step : sum;
    }
  });
  return all;
}

std::vector<double> times(const Problem& problem, Quantity quantity) {
  std::vector<double> all;
  for (std::size_t n = 0; n < problem.steps(); ++n)
    all.push_back(problem.begin + (static_cast<double>(n) + (quantity == Quantity::velocity   ? 0.5
                                                             : quantity == Quantity::pressure ? 0
                                                                                              : 1)) *
                                      problem.step);
  return all;
}

}  // namespace terrane::elastic
