// Data of electromagnetic models and their derivatives with respect to ln σ of all cells, over the ranks of a
// run.
//
// Rank 0 asks, the others wait in serve(), or as workers who take commands: all make each model and keep
// its fields; sources and frequencies are solved for by turns, and so are sites, whose receivers send.
// Numbers that ranks have in common are added up on rank 0 in the order of one process, so that the bits are
// the same.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "terrane/inversion/job/services.hpp"
#include "terrane/physics/electromagnetic/sensitivity.hpp"
#include "terrane/physics/electromagnetic/transfer.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::electromagnetic::inverse {

/// A datum of a model, how it changes with fields, and the frequency and receiver that it is of.
struct FieldDatum {
  std::complex<double> value;
  SumOfFields change;
  std::size_t site;
};

class FieldRanks;

class FieldModel {
 public:
  using Z = std::complex<double>;
  using TakeRow = std::function<void(std::size_t datum, std::span<const Z> row)>;

  /// places: of the data, as MeasuredFields has them · comm: null, or collective over its ranks
  FieldModel(const Problem& problem, const std::vector<std::size_t>& places, Device device, int threads,
             Progress* progress, Comm* comm);
  ~FieldModel();

  std::size_t cells() const { return sensitivity_.cells(); }
  const std::vector<FieldDatum>& data() const { return data_; }
  const Outcome& outcome() const { return sensitivity_.outcome(); }

  /// Changes of the data for changes v [cells]; and the transpose, w [data] → [cells].
  std::vector<Z> times(std::span<const double> v);
  std::vector<Z> transposed_times(std::span<const Z> w);
  /// Rows of some data, site by site: what they share of solves is there once. Rank 0 takes them.
  std::vector<Solve> rows(const std::vector<std::size_t>& wanted, const TakeRow& take,
                          Progress* progress = nullptr);

 private:
  friend class FieldRanks;
  friend class FieldServer;
  struct Site {
    std::vector<std::size_t> numbers;  // of data
    std::vector<Z> rows;               // of each, one after the other
    std::vector<Solve> solves;
  };
  void make(Site& site, Progress* progress);
  std::vector<Z> own_times(std::span<const double> v);
  std::vector<Z> own_transposed_times(std::span<const Z> w);
  std::vector<Solve> own_rows(const std::vector<std::size_t>& wanted, const TakeRow& take,
                              Progress* progress);

  Stream stream_;
  Sensitivity sensitivity_;
  std::vector<FieldDatum> data_;
  Comm* comm_;
  std::shared_ptr<FieldRanks> ranks_;  // on rank 0 of several
  std::uint64_t number_ = 0;
};

/// Rank 0's side, for one survey and mesh; the other ranks are released when it and all its models are gone.
class FieldRanks : public std::enable_shared_from_this<FieldRanks> {
 public:
  /// device: as asked for; each rank finds its own unless it names one · workers: that the others may be in
  FieldRanks(Comm& comm, const Problem& problem, const std::vector<std::size_t>& places, Device device,
             int threads, std::shared_ptr<solve::Workers> workers);
  ~FieldRanks();
  /// Of the problem with another conductivity, of all axes.
  std::shared_ptr<FieldModel> model(const Problem& problem, Progress* progress);
  /// Whether a rank has failed: the others wait no more, and what is asked of them throws Error.
  bool parted() const { return parted_; }

 private:
  friend class FieldModel;
  friend class FieldServer;
  enum class Wanted { nothing, model, times, transposed_times, rows };
  /// Throws Error when they have parted.
  template <class Values>
  void ask(Wanted wanted, std::uint64_t number, const Values& values);
  template <class Values>
  void send(Wanted wanted, std::uint64_t number, const Values& values);
  template <class Work>
  auto in_step(const Work& work);

  Comm& comm_;
  const std::vector<std::size_t> places_;
  Device device_;
  int threads_;
  std::shared_ptr<solve::Workers> workers_;  // whose commands they are; null: the others wait for this alone
  std::uint64_t made_ = 0;
  std::vector<std::uint64_t> gone_;  // models that the others may forget
  bool parted_ = false;
};

/// Another rank's side of one FieldRanks.
class FieldServer {
 public:
  /// packet: what FieldRanks begins with
  FieldServer(Packet& packet, Comm& comm);
  /// What it asks for next; false: nothing more, or a rank has failed, which rank 0 tells.
  bool serve(Packet& asked);

 private:
  Comm& comm_;
  Problem problem_;
  std::vector<std::size_t> places_;
  Device device_;
  int threads_;
  std::map<std::uint64_t, std::shared_ptr<FieldModel>> models_;
};

/// What the other ranks do for them: one of them alone, or any number as commands of workers.
inversion::Service service_of_fields();

}  // namespace terrane::electromagnetic::inverse
