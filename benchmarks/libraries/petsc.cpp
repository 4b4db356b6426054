// PETSc's Krylov methods of complex numbers, the rival of Commer, Maia & Newman (2010), on the equations of
// krylov.cpp for electric fields along edges: A = Cᵀ M C + iωμ₀ S, 13 entries a row, with the diagonal as
// preconditioner.
//
//   mpirun -n N libraries_petsc SOLVER:CELLS:ITERATIONS[:EARTH[:HERTZ[:METRES]]] ...      prints JSON
//   mpirun -n N libraries_petsc check       fields beside those of Terrane's own solver, to 1e-8
//
// SOLVER: bicg (two products an iteration, one of them with Aᵀ, as PETSc has it), cocg (its CG of symmetric
// matrices, one product; it stops where the real part of pᵀA p is below zero, so it is timed alone), tfqmr
// (transpose-free QMR, two products). …_band: the columns of each row moved to the 13 around the diagonal, as
// the paper did to see what memory far apart costs; timed alone. ITERATIONS below zero: a whole solve to ‖r‖
// = 1e-8 ‖b‖, and no more than so many.
//
// processor_s: of all ranks together, waiting for messages included.
#include <petscksp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/krylov_case.hpp"
#include "support/matrix_rows.hpp"
#include "terrane/physics/electromagnetic/grid/maxwell.hpp"

namespace terrane::benchmarks {
namespace {

void check(PetscErrorCode code, int line) {
  if (code != 0) throw std::runtime_error("PETSc, line " + std::to_string(line));
}
#define CHECK(call) check(call, __LINE__)

int rank_of() {
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}
int ranks_of() {
  int ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  return ranks;
}

double processor_seconds() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  double mine = static_cast<double>(used.ru_utime.tv_sec) + 1e-6 * static_cast<double>(used.ru_utime.tv_usec),
         all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  return all;
}

/// The matrix, its rows divided among the ranks.
struct System {
  Mat a = nullptr;
  Vec b = nullptr, x = nullptr;
  Index unknowns = 0;
  Share share;

  System(const test::Land& earth, double hertz, int cells, bool band) {
    const Edges edges(earth.mesh);
    unknowns = edges.count();
    share = Share::of_rank(unknowns, rank_of(), ranks_of());
    assemble(of_edges(earth, hertz, share), band);
    CHECK(MatCreateVecs(a, &x, &b));
    const auto source = source_of_edges(edges, cells);
    for (Index row = share.begin; row < share.end; ++row)
      if (const Z value = source[static_cast<std::size_t>(row)]; value.im != 0)
        CHECK(VecSetValue(b, static_cast<PetscInt>(row), {value.re, value.im}, INSERT_VALUES));
    CHECK(VecAssemblyBegin(b));
    CHECK(VecAssemblyEnd(b));
  }
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    VecDestroy(&x);
    VecDestroy(&b);
    MatDestroy(&a);
  }

 private:
  void assemble(const Rows<Z>& rows, bool band) {
    std::vector<PetscInt> first{0}, column;
    std::vector<PetscScalar> value;
    column.reserve(rows.column.size());
    value.reserve(rows.value.size());
    std::vector<std::pair<int, Z>> row;
    for (std::size_t n = 0; n < static_cast<std::size_t>(rows.count); ++n) {
      row.clear();
      for (int s = 0; s < rows.width; ++s) {
        const Z entry = rows.value[rows.place(n, s)];
        if (entry.re != 0 || entry.im != 0) row.emplace_back(rows.column[rows.place(n, s)], entry);
      }
      std::sort(row.begin(), row.end(), [](const auto& p, const auto& q) { return p.first < q.first; });
      const auto number = static_cast<Index>(n) + share.begin, count = static_cast<Index>(row.size());
      const Index from = std::clamp<Index>(number - count / 2, 0, unknowns - count);
      for (Index s = 0; s < count; ++s) {
        const auto& [at, entry] = row[static_cast<std::size_t>(s)];
        column.push_back(band ? static_cast<PetscInt>(from + s) : at);
        value.emplace_back(entry.re, entry.im);
      }
      first.push_back(static_cast<PetscInt>(column.size()));
    }
    const auto local = static_cast<PetscInt>(share.size()), all = static_cast<PetscInt>(unknowns);
    CHECK(MatCreate(PETSC_COMM_WORLD, &a));
    CHECK(MatSetSizes(a, local, local, all, all));
    CHECK(MatSetType(a, MATAIJ));
    CHECK(MatSeqAIJSetPreallocationCSR(a, first.data(), column.data(), value.data()));
    CHECK(MatMPIAIJSetPreallocationCSR(a, first.data(), column.data(), value.data()));
  }
};

struct Timed {
  double seconds = 1e300, processor = 1e300, residual = 0;
  PetscInt iterations = 0;
  bool converged = false;
};

Timed solved(System& system, const std::string& solver, int iterations, int repeats, double relative = 1e-8) {
  const bool whole = iterations < 0;
  KSP ksp = nullptr;
  PC pc = nullptr;
  CHECK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  CHECK(KSPSetOperators(ksp, system.a, system.a));
  const std::string type = solver.substr(0, solver.find('_'));
  if (type == "bicg") {
    CHECK(KSPSetType(ksp, KSPBICG));
  } else if (type == "tfqmr") {
    CHECK(KSPSetType(ksp, KSPTFQMR));
  } else if (type == "cocg") {
    CHECK(KSPSetType(ksp, KSPCG));
    CHECK(KSPCGSetType(ksp, KSP_CG_SYMMETRIC));
  } else {
    throw std::invalid_argument(solver + ": bicg, cocg or tfqmr");
  }
  CHECK(KSPGetPC(ksp, &pc));
  CHECK(PCSetType(pc, PCJACOBI));
  if (whole && type != "tfqmr") CHECK(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  CHECK(KSPSetTolerances(ksp, whole ? relative : 1e-300, 1e-300, 1e300, std::abs(iterations)));
  CHECK(KSPSetUp(ksp));
  Timed best;
  for (int n = 0; n < repeats; ++n) {
    CHECK(VecZeroEntries(system.x));
    MPI_Barrier(PETSC_COMM_WORLD);
    const double before = processor_seconds(), start = MPI_Wtime();
    CHECK(KSPSolve(ksp, system.b, system.x));
    MPI_Barrier(PETSC_COMM_WORLD);
    best.seconds = std::min(best.seconds, MPI_Wtime() - start);
    best.processor = std::min(best.processor, processor_seconds() - before);
  }
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  CHECK(KSPGetIterationNumber(ksp, &best.iterations));
  CHECK(KSPGetConvergedReason(ksp, &reason));
  best.converged = reason > 0;
  Vec r = nullptr;
  CHECK(VecDuplicate(system.b, &r));
  CHECK(MatMult(system.a, system.x, r));
  CHECK(VecAYPX(r, -1, system.b));
  PetscReal of_r = 0, of_b = 1;
  CHECK(VecNorm(r, NORM_2, &of_r));
  CHECK(VecNorm(system.b, NORM_2, &of_b));
  best.residual = of_r / of_b;
  VecDestroy(&r);
  KSPDestroy(&ksp);
  return best;
}

void run(const KrylovCase& wanted, bool first) {
  const bool band = wanted.solver.ends_with("_band");
  System system(wanted.land(), wanted.hertz, wanted.cells, band);
  const auto timed = solved(system, wanted.solver, wanted.iterations, wanted.iterations < 0 ? 1 : 3);
  if (rank_of() != 0) return;
  const double each = std::max<double>(1, static_cast<double>(timed.iterations));
  std::printf(
      "%s  {\"library\": \"PETSc %d.%d.%d, complex\", \"solver\": \"%s\", \"ranks\": %d, \"earth\": \"%s\", "
      "\"hertz\": %g, \"metres\": %g, \"cells\": %d, \"unknowns\": %td, \"iterations\": %d, \"whole\": %s, "
      "\"converged\": %s, \"residual\": %.2g, \"seconds\": %.5g, \"processor_s\": %.5g, \"s_per_1000\": "
      "%.5g, \"processor_s_per_1000\": %.5g}",
      first ? "" : ",\n", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR,
      wanted.solver.c_str(), ranks_of(), wanted.earth.c_str(), wanted.hertz, wanted.metres, wanted.cells,
      static_cast<std::ptrdiff_t>(system.unknowns), static_cast<int>(timed.iterations),
      wanted.iterations < 0 ? "true" : "false", timed.converged ? "true" : "false",
      band ? 0.0 : timed.residual, timed.seconds, timed.processor, 1000 * timed.seconds / each,
      1000 * timed.processor / each);
  std::fflush(stdout);
}

/// Largest difference of fields from those of Terrane's solver, over the largest field.
double difference(const std::string& solver) {
  constexpr int cells = 12;
  const auto earth =
      test::land(cells, 1.1, test::Earth::land, 1e-3);  // air that conducts, as matrix_rows has
  System system(earth, 1, cells, false);
  solved(system, solver, -20'000, 1, 1e-11);
  Vec all = nullptr;
  VecScatter scatter = nullptr;
  CHECK(VecScatterCreateToAll(system.x, &scatter, &all));
  CHECK(VecScatterBegin(scatter, system.x, all, INSERT_VALUES, SCATTER_FORWARD));
  CHECK(VecScatterEnd(scatter, system.x, all, INSERT_VALUES, SCATTER_FORWARD));
  const PetscScalar* values = nullptr;
  CHECK(VecGetArrayRead(all, &values));
  std::vector<Z> theirs;
  for (Index n = 0; n < system.unknowns; ++n) theirs.push_back({values[n].real(), values[n].imag()});
  CHECK(VecRestoreArrayRead(all, &values));
  VecScatterDestroy(&scatter);
  VecDestroy(&all);
  return difference_from_terrane(earth, cells, theirs);
}

int check_all() {
  const double apart = difference("bicg");  // tfqmr's own residual falls, but not that of the field
  if (rank_of() == 0) std::printf("bicg: fields differ by %.1e of the largest from Terrane's\n", apart);
  return apart < 1e-8 ? 0 : 1;
}

int main_of(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "check") == 0) return check_all();
  if (argc < 2) throw std::invalid_argument("libraries_petsc SOLVER:CELLS:ITERATIONS ..., or check");
  if (rank_of() == 0) std::printf("[\n");
  for (int n = 1; n < argc; ++n) run(KrylovCase::parse(argv[n]), n == 1);
  if (rank_of() == 0) std::printf("\n]\n");
  return 0;
}

}  // namespace
}  // namespace terrane::benchmarks

int main(int argc, char** argv) {
  int none = 0;
  if (PetscInitialize(&none, nullptr, nullptr, nullptr) != 0) return 1;
  int status = 1;
  try {
    status = terrane::benchmarks::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "libraries_petsc: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  PetscFinalize();
  return status;
}
