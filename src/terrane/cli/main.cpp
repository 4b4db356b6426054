// The main program. The only file that uses MPI_COMM_WORLD; it passes its ranks to the command.
#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/resource.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <string>

#include "terrane/cli/command.hpp"
#include "terrane/cli/terminal.hpp"
#ifdef TERRANE_HAS_MPI
#include "terrane/base/error.hpp"
#include "terrane/parallel/comm/comm_gpu.hpp"
#include "terrane/parallel/comm/comm_mpi.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/simulation/serve.hpp"
#endif
#ifdef TERRANE_HAS_NCCL
#include "terrane/parallel/comm/comm_nccl.hpp"
#endif

namespace {

/// Makes free() return memory to the system. By default the C library keeps freed blocks of up to 32 MB: a
/// run that used 30 MB held 45 MB, more than planned.
void give_back_what_is_freed() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_TRIM_THRESHOLD, 256 << 10);
  mallopt(M_TOP_PAD, 64 << 10);
  // Each arena of malloc reserves 64 MB of address space, which counts toward a limit (`ulimit -v`).
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
#endif
}

/// The number of ranks that a launcher (mpirun, srun) started; 0 without a launcher.
int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  if (std::getenv("PMIX_RANK") == nullptr) return 0;
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return tasks ? std::atoi(tasks) : 1;
}

#ifdef TERRANE_HAS_MPI
/// Runs the command on these ranks. If this build has NCCL, GPUs can exchange data directly.
int command_on(terrane::Comm& ranks, int argc, char** argv, const std::string& libraries) {
  auto use = terrane::GpuLinkUse::never;
  try {
    if (ranks.rank() == 0)  // the variable TERRANE_NCCL of rank 0 applies to all ranks
      use = terrane::gpu_link_use_from_text(std::getenv("TERRANE_NCCL"), "TERRANE_NCCL");
  } catch (const terrane::InputError& error) {
    terrane::cli::complain(error.what());
    terrane::dismiss(ranks);
    return 2;
  }
#ifdef TERRANE_HAS_NCCL
  terrane::GpuComm comm(ranks, terrane::nccl_link, use, terrane::nccl_direct_link);
#else
  terrane::GpuComm comm(ranks, {}, use);
#endif
  return terrane::cli::command(argc, argv, comm, libraries);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  give_back_what_is_freed();
  terrane::cli::prepare_terminal();
  using terrane::cli::command;
#ifdef TERRANE_HAS_MPI
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(library, &length);
  std::string mpi(library, static_cast<std::size_t>(length));
  mpi = mpi.substr(0, mpi.find_first_of(",\n"));
#ifdef TERRANE_HAS_NCCL
  mpi += "\n  " + terrane::nccl_version() + " between GPUs";
#endif
  if (launched_ranks() > 0) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int status = 0;
    {
      const auto comm = terrane::mpi_comm(MPI_COMM_WORLD);
      if (comm->size() == 1 && launched_ranks() > 1) {
        // MPI gives each process only itself as a rank, so each would run the whole job and write the same
        // files.
        terrane::cli::complain(
            fmt::format("ranks: {} were started, and {} sees one\n"
                        "         Start them with its own mpirun, or with srun --mpi=pmix.",
                        launched_ranks(), mpi));
        status = 2;
      } else {
        terrane::share_cores(comm->on_node().count);
        status = command_on(*comm, argc, argv, mpi);
      }
    }  // `comm` must be destroyed before MPI_Finalize()
    MPI_Finalize();
    return status;
  }
#else
  const std::string mpi;
  if (launched_ranks() > 1) {
    terrane::cli::complain(fmt::format(
        "ranks: {} were started, and this build has no MPI\n"
        "         Start one process, or build it where CMake finds MPI (Debian: libopenmpi-dev); with pip:\n"
        "         pip install --force-reinstall --no-deps --no-binary terrane-geophysics terrane-geophysics",
        launched_ranks()));
    return 2;
  }
#endif
  terrane::Alone alone;
  return command(argc, argv, alone, mpi);
}
