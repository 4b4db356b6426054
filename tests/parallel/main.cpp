// GoogleTest on the ranks of mpirun: a failure on any of them fails the run.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "terrane/parallel/partition/lost_peers.hpp"

namespace {

/// Ranks other than 0 speak of failures only.
class FailuresOnly final : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::printf("rank %d: %s:%d\n%s\n", rank_, result.file_name() ? result.file_name() : "",
                  result.line_number(), result.summary());
    std::fflush(stdout);
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  testing::InitGoogleTest(&argc, argv);
  if (rank > 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));
  }
  // More ranks than GPUs: kernels of several neighbours are tested where there are one or two.
  int share = std::getenv("TERRANE_TEST_SHARED_GPUS") != nullptr ? 1 : 0;
  MPI_Bcast(&share, 1, MPI_INT, 0, MPI_COMM_WORLD);
  terrane::let_peers_share_gpus(share != 0);
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
