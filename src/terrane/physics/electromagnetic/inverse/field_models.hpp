// Data of electromagnetic models and their derivatives with respect to ln σ of all cells, over the ranks of a
// run.
//
// Rank 0 sends requests, the others wait for them in serve(), or as workers who take commands. All ranks make
// each model and keep its fields. They share solves for sources and frequencies, and for sites, whose
// receivers are the sources then. Sums over ranks are added on rank 0 in the order of one process, so that
// the bits are the same.
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

/// A datum of a model, its derivative with respect to fields, and its frequency and receiver (site).
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

  /// places: those of the data, as in MeasuredFields · comm: null, or collective over its ranks
  FieldModel(const Problem& problem, const std::vector<std::size_t>& places, Device device, int threads,
             Progress* progress, Comm* comm);
  ~FieldModel();

  std::size_t cells() const { return sensitivity_.cells(); }
  const std::vector<FieldDatum>& data() const { return data_; }
  const Outcome& outcome() const { return sensitivity_.outcome(); }

  /// Changes of the data for changes v [cells]; and the transpose, w [data] → [cells].
  std::vector<Z> times(std::span<const double> v);
  std::vector<Z> transposed_times(std::span<const Z> w);
  /// Rows of J for some data, site by site, so that data of a site share its solves. Rank 0 takes them.
  std::vector<Solve> rows(const std::vector<std::size_t>& wanted, const TakeRow& take,
                          Progress* progress = nullptr);

 private:
  friend class FieldRanks;
  friend class FieldServer;
  struct Site {
    std::vector<std::size_t> numbers;  // numbers of its data
    std::vector<Z> rows;               // rows of J of these data, one after the other
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
  std::shared_ptr<FieldRanks> ranks_;  // the other ranks; null: there are none
  std::uint64_t number_ = 0;
};

/// Rank 0's side of the models of one survey and mesh; the other ranks are released when it and all its
/// models are destroyed.
class FieldRanks : public std::enable_shared_from_this<FieldRanks> {
 public:
  /// device: as the user asked; each rank chooses its own unless it names one · workers: null, or those that
  /// the other ranks serve as
  FieldRanks(Comm& comm, const Problem& problem, const std::vector<std::size_t>& places, Device device,
             int threads, std::shared_ptr<solve::Workers> workers);
  ~FieldRanks();
  /// The model of the problem with another conductivity, the same along all axes.
  std::shared_ptr<FieldModel> model(const Problem& problem, Progress* progress);
  /// Whether a rank has failed: then the others no longer wait, and requests throw Error.
  bool parted() const { return parted_; }

 private:
  friend class FieldModel;
  friend class FieldServer;
  enum class Wanted { nothing, model, times, transposed_times, rows };
  /// Throws Error when a rank has failed.
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
  std::shared_ptr<solve::Workers> workers_;  // requests are their commands; null: of serve() alone
  std::uint64_t made_ = 0;
  std::vector<std::uint64_t> gone_;  // numbers of models that other ranks may free
  bool parted_ = false;
};

/// Another rank's side of one FieldRanks.
class FieldServer {
 public:
  /// packet: the first message of FieldRanks
  FieldServer(Packet& packet, Comm& comm);
  /// Does what rank 0 asks for next; false: it asks for nothing more, or a rank has failed, which rank 0
  /// reports.
  bool serve(Packet& asked);

 private:
  Comm& comm_;
  Problem problem_;
  std::vector<std::size_t> places_;
  Device device_;
  int threads_;
  std::map<std::uint64_t, std::shared_ptr<FieldModel>> models_;
};

/// The service by which the other ranks serve FieldRanks: for one alone, or for any number as commands of
/// workers.
inversion::Service service_of_fields();

}  // namespace terrane::electromagnetic::inverse
