// Eigenvalues and eigenvectors of small symmetric matrices: Householder reflections to a tridiagonal matrix,
// then the implicit QL iteration (Martin, Reinsch & Wilkinson 1968; Dubrulle, Martin & Wilkinson 1968).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace terrane::solve {

/// Eigenvalues λ_i, ascending, and eigenvectors v_i of A = Σ λ_i v_i v_iᵀ.
struct Eigen {
  std::vector<double> value;   ///< [n] eigenvalues, ascending
  std::vector<double> vector;  ///< [n, n]: row i is the eigenvector of value[i]
};

/// The eigenvalues and eigenvectors of a tridiagonal matrix.  diagonal [n]; beside [n − 1], the
/// off-diagonal. Throws Error if the iteration does not converge (NaN in the matrix).
Eigen eigen_tridiagonal(std::span<const double> diagonal, std::span<const double> beside);

/// The eigenvalues and eigenvectors of a full symmetric matrix [n, n], of which only the lower triangle is
/// read.
Eigen eigen_symmetric(std::span<const double> matrix, std::size_t n);

}  // namespace terrane::solve
