#include "terrane/solve/matrices/matrix_kernels.hpp"

#include "terrane/parallel/simd/instruction_set.hpp"
#include "terrane/solve/matrices/matrix_table.hpp"

namespace terrane::solve {

const MatrixKernels& matrix_kernels(std::string_view wanted) {
  const auto name = instruction_set(wanted);
  for (const auto& [target, kernels] : built_matrix_kernels())
    if (target == name) return *kernels;
  return *built_matrix_kernels().front().second;
}

}  // namespace terrane::solve
