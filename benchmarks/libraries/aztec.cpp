// Conjugate gradients of AztecOO in Trilinos, which is Aztec of Commer, Maia & Newman (2010) today, on the
// equations of krylov.cpp for direct current: 7 entries a row, real; scaled by the diagonal from both sides
// once, as the paper has it.
//
//   mpirun -n N libraries_aztec cg:CELLS:ITERATIONS[:EARTH] ...      prints JSON
//   mpirun -n N libraries_aztec check       potentials beside those of Terrane's own solver, to 1e-8
//
// ITERATIONS below zero: a whole solve to ‖r‖ = 1e-8 ‖b‖ of the scaled equations, and no more than so many.
// processor_s: of all ranks together, waiting for messages included.
#include <AztecOO.h>
#include <Epetra_CrsMatrix.h>
#include <Epetra_Import.h>
#include <Epetra_LinearProblem.h>
#include <Epetra_LocalMap.h>
#include <Epetra_Map.h>
#include <Epetra_MpiComm.h>
#include <Epetra_Vector.h>
#include <Trilinos_version.h>
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/krylov_case.hpp"
#include "support/matrix_rows.hpp"

namespace terrane::benchmarks {
namespace {

double processor_seconds() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  double mine = static_cast<double>(used.ru_utime.tv_sec) + 1e-6 * static_cast<double>(used.ru_utime.tv_usec),
         all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

struct Timed {
  double seconds = 1e300, processor = 1e300, residual = 0;
  int iterations = 0;
  bool converged = false;
};

class System {
 public:
  System(const Epetra_MpiComm& comm, const test::Land& earth, int cells)
      : share_(Share::of_rank(count(cells), comm.MyPID(), comm.NumProc())),
        map_(static_cast<int>(count(cells)), static_cast<int>(share_.size()), 0, comm),
        a_(Copy, map_, 7, true),
        b_(map_),
        x_(map_) {
    put(of_nodes(earth, share_));
    const auto source = source_of_nodes(cells);
    for (Index row = share_.begin; row < share_.end; ++row)
      b_[static_cast<int>(row - share_.begin)] = source[static_cast<std::size_t>(row)];
    b_.Norm2(&norm_);
    scale();
  }

  Timed solve(int iterations, int repeats, double relative = 1e-8) {
    Epetra_LinearProblem problem(&a_, &x_, &b_);
    AztecOO solver(problem);
    solver.SetAztecOption(AZ_solver, AZ_cg);
    solver.SetAztecOption(AZ_precond, AZ_none);  // the equations are scaled
    solver.SetAztecOption(AZ_conv, AZ_rhs);
    solver.SetAztecOption(AZ_output, AZ_none);
    Timed best;
    for (int n = 0; n < repeats; ++n) {
      x_.PutScalar(0);
      MPI_Barrier(MPI_COMM_WORLD);
      const double before = processor_seconds(), start = MPI_Wtime();
      const int status = solver.Iterate(std::abs(iterations), iterations < 0 ? relative : 1e-300);
      MPI_Barrier(MPI_COMM_WORLD);
      best.seconds = std::min(best.seconds, MPI_Wtime() - start);
      best.processor = std::min(best.processor, processor_seconds() - before);
      best.converged = status == 0;
    }
    best.iterations = solver.NumIters();
    best.residual = residual();
    return best;
  }

  /// Potentials of all nodes, on every rank.
  std::vector<double> potentials() const {
    const int all = map_.NumGlobalElements();
    const Epetra_LocalMap everywhere(all, 0, map_.Comm());
    Epetra_Vector values(everywhere), scaled(x_);
    scaled.Multiply(1, x_, *root_, 0);
    const Epetra_Import import(everywhere, map_);
    values.Import(scaled, import, Insert);
    return {values.Values(), values.Values() + all};
  }
  Index unknowns() const { return map_.NumGlobalElements(); }

 private:
  static Index count(int cells) { return static_cast<Index>(cells + 1) * (cells + 1) * (cells + 1); }
  void put(const Rows<double>& rows) {
    std::vector<int> column;
    std::vector<double> value;
    for (std::size_t n = 0; n < static_cast<std::size_t>(rows.count); ++n) {
      column.clear(), value.clear();
      for (int s = 0; s < rows.width; ++s)
        if (const double entry = rows.value[rows.place(n, s)]; entry != 0) {
          column.push_back(rows.column[rows.place(n, s)]);
          value.push_back(entry);
        }
      a_.InsertGlobalValues(static_cast<int>(share_.begin) + static_cast<int>(n),
                            static_cast<int>(value.size()), value.data(), column.data());
    }
    a_.FillComplete();
    a_.OptimizeStorage();
  }
  /// D^-½ A D^-½ (D^½ x) = D^-½ b
  void scale() {
    root_ = std::make_unique<Epetra_Vector>(map_);
    a_.ExtractDiagonalCopy(*root_);
    for (int n = 0; n < root_->MyLength(); ++n) (*root_)[n] = 1 / std::sqrt((*root_)[n]);
    a_.LeftScale(*root_);
    a_.RightScale(*root_);
    b_.Multiply(1, b_, *root_, 0);
  }
  /// Of the equations as they were, over ‖b‖.
  double residual() const {
    Epetra_Vector r(map_);
    a_.Multiply(false, x_, r);
    r.Update(1, b_, -1);
    for (int n = 0; n < r.MyLength(); ++n) r[n] /= (*root_)[n];
    double norm = 0;
    r.Norm2(&norm);
    return norm / norm_;
  }

  Share share_;
  Epetra_Map map_;
  Epetra_CrsMatrix a_;
  Epetra_Vector b_, x_;
  std::unique_ptr<Epetra_Vector> root_;
  double norm_ = 1;
};

void run(const Epetra_MpiComm& comm, const KrylovCase& wanted, bool first) {
  if (wanted.solver != "cg") throw std::invalid_argument(wanted.solver + ": AztecOO solves by cg here");
  System system(comm, wanted.land(), wanted.cells);
  const auto timed = system.solve(wanted.iterations, wanted.iterations < 0 ? 1 : 3);
  if (comm.MyPID() != 0) return;
  const double each = std::max(1, timed.iterations);
  std::printf(
      "%s  {\"library\": \"AztecOO of Trilinos %s\", \"solver\": \"cg\", \"ranks\": %d, \"earth\": \"%s\", "
      "\"metres\": "
      "%g, \"cells\": %d, \"unknowns\": %td, \"iterations\": %d, \"whole\": %s, \"converged\": %s, "
      "\"residual\": %.2g, \"seconds\": %.5g, \"processor_s\": %.5g, \"s_per_1000\": %.5g, "
      "\"processor_s_per_1000\": %.5g}",
      first ? "" : ",\n", TRILINOS_VERSION_STRING, comm.NumProc(), wanted.earth.c_str(), wanted.metres,
      wanted.cells, static_cast<std::ptrdiff_t>(system.unknowns()), timed.iterations,
      wanted.iterations < 0 ? "true" : "false", timed.converged ? "true" : "false", timed.residual,
      timed.seconds, timed.processor, 1000 * timed.seconds / each, 1000 * timed.processor / each);
  std::fflush(stdout);
}

int check_all(const Epetra_MpiComm& comm) {
  constexpr int cells = 16;
  const auto earth = test::land(cells, 1.3);
  System system(comm, earth, cells);
  system.solve(-20'000, 1, 1e-12);
  const double apart = difference_from_terrane(earth, cells, system.potentials());
  if (comm.MyPID() == 0) std::printf("cg: potentials differ by %.1e of the largest from Terrane's\n", apart);
  return apart < 1e-8 ? 0 : 1;
}

}  // namespace
}  // namespace terrane::benchmarks

int main(int argc, char** argv) {
  using namespace terrane::benchmarks;
  MPI_Init(nullptr, nullptr);
  int status = 0;
  try {
    const Epetra_MpiComm comm(MPI_COMM_WORLD);
    const bool first = comm.MyPID() == 0;
    if (argc == 2 && std::strcmp(argv[1], "check") == 0) {
      status = check_all(comm);
    } else {
      if (argc < 2) throw std::invalid_argument("libraries_aztec cg:CELLS:ITERATIONS ..., or check");
      if (first) std::printf("[\n");
      for (int n = 1; n < argc; ++n) run(comm, KrylovCase::parse(argv[n]), n == 1);
      if (first) std::printf("\n]\n");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "libraries_aztec: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
