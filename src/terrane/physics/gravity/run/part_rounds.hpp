// The rounds of a gravity run (simulation/rounds.hpp): the sums of each part over chunks of prisms are sent
// from all ranks to rank 0, which copies them into the result.
#pragma once

#include <vector>

#include "terrane/physics/gravity/run/worker.hpp"
#include "terrane/simulation/rounds.hpp"

namespace terrane::gravity {

class PartRounds final : public RoundWork {
 public:
  /// all: on rank 0 the result, values [channels][stations]; else null; slow: every round repeats
  /// preparatory work
  PartRounds(Worker& worker, const Parameters& parameters, bool slow, PartSums* all)
      : worker_(worker),
        channels_(parameters.channels),
        threads_(parameters.threads),
        slow_(slow),
        all_(all) {}

  std::size_t parts() const override { return worker_.parts(); }
  bool slow_to_begin() const override { return slow_ || worker_.slow_to_begin(); }
  void set_shares(std::span<const double> of_ranks) override { worker_.set_shares(of_ranks); }
  void compute(const Range& round, Progress& progress) override;
  void hand_over(Comm& comm, const Range& round) override;
  void take_own(const Range& round) override;
  void take(Comm& comm, int rank, const Range& round) override;
  void finish(const Range& round) override;

 private:
  void take_packet(const Range& round, const Range& some);
  void take_whole(std::size_t part, ChunkTree& tree, const Range& round);
  void put(std::size_t part, std::span<const std::span<const double>> values,
           std::span<const Contact> contacts, const Range& round);

  Worker& worker_;
  ChannelSet channels_;
  int threads_;
  bool slow_;
  PartSums* all_;
  // Each of these lists has one entry for each part of the round.
  std::vector<ChunkTree> trees_;
  std::vector<std::vector<Contact>> contacts_;
  std::vector<char> done_;
  TreePacket packet_;
};

}  // namespace terrane::gravity
