#include "terrane/physics/gravity/run/worker.hpp"

#include <algorithm>
#include <numeric>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/direct/direct.hpp"
#include "terrane/physics/gravity/direct/direct_device.hpp"

namespace terrane::gravity {

namespace {

/// The number of parts that keeps a GPU, or every CPU thread, busy.
std::size_t parts_at_once(const Parameters& parameters) {
  return parameters.device.has_own_memory() ? 16
                                            : 4 * static_cast<std::size_t>(thread_count(parameters.threads));
}

class ByStations final : public Worker {
 public:
  ByStations(std::shared_ptr<Summation> summation, const Parameters& parameters, const Comm& comm)
      : summation_(std::move(summation)),
        at_once_(parts_at_once(parameters)),
        rank_(static_cast<std::size_t>(comm.rank())),
        shares_(static_cast<std::size_t>(comm.size()), 1.0 / comm.size()) {}
  std::size_t parts() const override { return summation_->parts(); }
  Summation::Part part(std::size_t index) const override { return summation_->part(index); }
  std::size_t chunks() const override { return 1; }
  void set_shares(std::span<const double> of_ranks) override {
    shares_.assign(of_ranks.begin(), of_ranks.end());
  }
  void sum(const Range& round, std::vector<ChunkTree>& trees, Progress& progress) override {
    const auto shares = ranges_of(round, shares_, rank_, at_once_);
    ShareOfProgress mine(progress, static_cast<double>(round.size() * RoundWork::steps_per_part));
    summation_->sum_ranges(
        shares,
        [&](std::size_t part, PartSums&& sums) {
          trees[part - round.first].add({0, 0}, std::move(sums));
        },
        mine);
  }

 private:
  std::shared_ptr<Summation> summation_;
  std::size_t at_once_, rank_;
  std::vector<double> shares_;  // each rank's share of a round
};

class ByPrisms final : public Worker {
 public:
  ByPrisms(const Share& share, const Stations& stations, const Comm& comm)
      : prisms_(share.own),
        chunks_(share.prisms),
        mine_(chunks_.of(comm, comm.rank())),
        stations_(stations),
        parameters_(share.parameters),
        free_at_first_(device_memory(parameters_.device).free) {
    if (mine_.size() > 0) kept_.push_back(chunk(mine_.first));
  }
  std::size_t parts() const override { return kept_.front()->parts(); }
  Summation::Part part(std::size_t index) const override { return kept_.front()->part(index); }
  std::size_t chunks() const override { return chunks_.count(); }
  bool slow_to_begin() const override { return begun_ && kept_.size() < mine_.size(); }
  void sum(const Range& round, std::vector<ChunkTree>& trees, Progress& progress) override {
    begun_ = true;
    const bool on_device = parameters_.device.has_own_memory();
    // A sum that stays on a device also keeps the memory of its last parts. So only a few parts are computed
    // at a time.
    const std::size_t at_once = on_device ? parts_at_once(parameters_) : round.size();
    for (std::size_t i = 0; i < mine_.size(); ++i) {
      std::unique_ptr<Summation> made;
      if (i >= kept_.size()) made = chunk(mine_.first + i);
      auto& summation = made ? *made : *kept_[i];
      for (std::size_t first = round.first; first < round.last; first += at_once) {
        const std::size_t last = std::min(first + at_once, round.last);
        ShareOfProgress mine(progress, static_cast<double>((last - first) * RoundWork::steps_per_part) /
                                           static_cast<double>(mine_.size()));
        summation.sum(
            first, last,
            [&](std::size_t part, PartSums&& sums) {
              trees[part - round.first].add({0, static_cast<std::uint32_t>(mine_.first + i)},
                                            std::move(sums));
            },
            mine);
      }
      // A device need not keep all chunks: the others are copied there one after the other in each round.
      if (made && i == kept_.size() &&
          (!on_device || device_memory(parameters_.device).free >= free_at_first_ / 2))
        kept_.push_back(std::move(made));
    }
  }

 private:
  std::unique_ptr<Summation> chunk(std::size_t c) const {
    const auto range = chunks_.prisms(c);
    const std::size_t first = chunks_.prisms(mine_).first;
    const auto view = prisms_->view({range.first - first, range.last - first});
    if (parameters_.device.has_own_memory())
      return direct_sum_on_device(parameters_.device, view, stations_, parameters_, true,
                                  kept_.empty() ? nullptr : kept_.front().get());
    if (!kept_.empty())
      return std::make_unique<DirectSummation>(view, dynamic_cast<const DirectSummation&>(*kept_.front()));
    return std::make_unique<DirectSummation>(view, stations_, parameters_.channels, parameters_.accuracy,
                                             parameters_.threads);
  }

  std::shared_ptr<const OwnedPrisms> prisms_;
  Chunks chunks_;
  Range mine_;
  Stations stations_;
  Parameters parameters_;
  bool begun_ = false;
  std::size_t free_at_first_;  // bytes of device memory
  // The summations of the first chunks, kept for all rounds. All chunks have the same parts.
  std::vector<std::unique_ptr<Summation>> kept_;
};

}  // namespace

std::vector<Range> ranges_of(const Range& round, std::span<const double> shares, std::size_t rank,
                             std::size_t least) {
  const std::size_t ranks = shares.size(),
                    regions = std::clamp<std::size_t>(round.size() / (ranks * least), 1, 16);
  // The number of parts before index `place` of the round that belong to the first n ranks. It is rounded
  // down over the whole round, so that rounding in one region is compensated in the next.
  std::vector<double> ahead(ranks + 1, 0);
  std::partial_sum(shares.begin(), shares.end(), ahead.begin() + 1);
  ahead.back() = 1;
  const auto of_first = [&](std::size_t n, std::size_t place) {
    return n == ranks ? place : static_cast<std::size_t>(ahead[n] * static_cast<double>(place));
  };
  std::vector<Range> mine;
  for (std::size_t region = 0; region < regions; ++region) {
    const auto all = balanced_range(round.size(), regions, region);
    // [ranks + 1] first part of each rank in the region, counted from the region's start.
    std::vector<std::size_t> cut(ranks + 1);
    for (std::size_t n = 0; n <= ranks; ++n) {
      cut[n] = of_first(n, all.last) - of_first(n, all.first);
      if (n > 0) cut[n] = std::max(cut[n], cut[n - 1]);
    }
    const Range range = region % 2 == 0 ? Range{all.first + cut[rank], all.first + cut[rank + 1]}
                                        : Range{all.last - cut[rank + 1], all.last - cut[rank]};
    if (range.size() > 0) mine.push_back({round.first + range.first, round.first + range.last});
  }
  return mine;
}

std::unique_ptr<Worker> worker_by_stations(std::shared_ptr<Summation> summation, const Parameters& parameters,
                                           const Comm& comm) {
  return std::make_unique<ByStations>(std::move(summation), parameters, comm);
}

std::unique_ptr<Worker> worker_by_prisms(const Share& share, const Stations& stations, const Comm& comm) {
  return std::make_unique<ByPrisms>(share, stations, comm);
}

}  // namespace terrane::gravity
