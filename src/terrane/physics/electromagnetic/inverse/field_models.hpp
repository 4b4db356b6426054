// Data of electromagnetic models and their derivatives with respect to ln σ of all cells, computed by all
// ranks of a run.
//
// Rank 0 sends requests; the other ranks wait for them in serve(), or as workers that take commands. All
// ranks compute each model together and store its fields. They share the solves: of the model, by source and
// frequency; of rows of J, by site, with sources at the receivers of the site. Rank 0 adds partial sums of
// ranks in the same order as a single process, so that results are bitwise identical.
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

/// A datum of a model, its derivative with respect to fields, and its site: index of frequency and receiver.
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

  /// places: indices of the data, as in MeasuredFields; comm: null, or the constructor is collective over
  /// its ranks
  FieldModel(const Problem& problem, const std::vector<std::size_t>& places, Device device, int threads,
             Progress* progress, Comm* comm);
  ~FieldModel();

  std::size_t cells() const { return sensitivity_.cells(); }
  const std::vector<FieldDatum>& data() const { return data_; }
  const Outcome& outcome() const { return sensitivity_.outcome(); }

  /// times(): changes of the data for changes v [cells] of ln σ. transposed_times(): the transpose of
  /// times(), for w [data]; returns [cells].
  std::vector<Z> times(std::span<const double> v);
  std::vector<Z> transposed_times(std::span<const Z> w);
  /// Rows of J for some data, site by site, so that data of a site share its solves. Rank 0 receives the rows
  /// through `take`.
  std::vector<Solve> rows(const std::vector<std::size_t>& wanted, const TakeRow& take,
                          Progress* progress = nullptr);

 private:
  friend class FieldRanks;
  friend class FieldServer;
  struct Site {
    std::vector<std::size_t> numbers;  // indices of the site's data
    std::vector<Z> rows;               // rows of J of these data, [datum, cell]
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
  std::shared_ptr<FieldRanks> ranks_;  // the other ranks; null if there are none
  std::uint64_t number_ = 0;
};

/// Rank 0's side of all models of one survey on one mesh; the other ranks are released when this object and
/// all its models are destroyed.
class FieldRanks : public std::enable_shared_from_this<FieldRanks> {
 public:
  /// device: as the user asked; unless it names a device, each rank chooses its own; workers: the other
  /// ranks, if they wait as workers, or null
  FieldRanks(Comm& comm, const Problem& problem, const std::vector<std::size_t>& places, Device device,
             int threads, std::shared_ptr<solve::Workers> workers);
  ~FieldRanks();
  /// Computes the model of `problem`, which differs from earlier ones only in its (isotropic) conductivity.
  std::shared_ptr<FieldModel> model(const Problem& problem, Progress* progress);
  /// Whether a rank has failed: then the other ranks no longer wait for requests, and requests throw Error.
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
  std::shared_ptr<solve::Workers> workers_;  // workers that get requests as commands; null: the other ranks
                                             // are in serve()
  std::uint64_t made_ = 0;
  std::vector<std::uint64_t> gone_;  // numbers of destroyed models, which the other ranks may free
  bool parted_ = false;
};

/// The counterpart of one FieldRanks on another rank.
class FieldServer {
 public:
  /// packet: the first message of FieldRanks
  FieldServer(Packet& packet, Comm& comm);
  /// Does what rank 0 asks for next. Returns false if rank 0 asks for nothing more, or a rank has failed,
  /// which rank 0 reports.
  bool serve(Packet& asked);

 private:
  Comm& comm_;
  Problem problem_;
  std::vector<std::size_t> places_;
  Device device_;
  int threads_;
  std::map<std::uint64_t, std::shared_ptr<FieldModel>> models_;
};

/// The service with which the other ranks answer the requests of FieldRanks: of one object or, if the ranks
/// are workers that take commands, of any number of objects.
inversion::Service service_of_fields();

}  // namespace terrane::electromagnetic::inverse
