// Step 5: the same on several processes, mpirun -n N 5_on_ranks. Rank 0 is your program; the others wait in
// serve() for what it asks for. The results have the bits of one process.
#include <mpi.h>

#include <cstdio>
#include <terrane/parallel/comm/comm_mpi.hpp>
#include <terrane/physics/all.hpp>
#include <terrane/physics/gravity/forward.hpp>
#include <terrane/simulation/serve.hpp>
#include <vector>

using namespace terrane;

namespace {

int lead(Comm& comm) {
  std::vector<double> low, high, bottom, top, density;
  for (int n = 0; n < 200; ++n) {
    low.push_back(100.0 * n);
    high.push_back(100.0 * n + 80);
    bottom.push_back(-500 - n);
    top.push_back(-100);
    density.push_back(n % 3 == 0 ? 400 : -150);
  }
  std::vector<double> easting, northing, up;
  for (int n = 0; n < 1000; ++n) {
    easting.push_back(20.0 * n);
    northing.push_back(7.0 * n);
    up.push_back(10);
  }
  gravity::Parameters parameters;
  parameters.channels = gravity::ChannelSet{gravity::Channel::g_u};
  parameters.method = gravity::Method::direct;
  const auto compute = [&](Comm* ranks) {
    std::vector<double> g_u(up.size());
    Runtime runtime;
    runtime.comm = ranks;
    gravity::forward({low, high, low, high, bottom, top, density}, {easting, northing, up}, parameters,
                     {parameters.channels, {g_u}, {}}, nullptr, runtime);
    return g_u;
  };
  const auto together = compute(&comm), alone = compute(nullptr);
  std::printf("%d ranks: %s\n", comm.size(), together == alone ? "the bits of one process" : "other numbers");
  return together == alone ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  {
    const auto comm = mpi_comm(MPI_COMM_WORLD);
    if (comm->rank() == 0) {
      status = lead(*comm);
      dismiss(*comm);
    } else {
      serve(physics::all(), *comm);
    }
  }  // it must not outlive MPI
  MPI_Finalize();
  return status;
}
