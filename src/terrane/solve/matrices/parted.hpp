// An operator G whose columns are divided into fixed parts; and such an operator shared among ranks.
//
//   G m   every part computes its contribution to all data; these are added in a binary tree over the parts
//   Gᵀ d  every part computes the entries of its own columns
//
// The parts depend on the problem alone, so no bit depends on which thread or rank has which part. Every rank
// holds the sensitivities of its parts only. A product sends each model value once to or from the rank that
// has its column, and one set of data per part.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/partition/ranges.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::solve {

/// Which parts of G's columns an operator holds: those of rank `index` of `count` ranks.
struct ShareOfParts {
  std::size_t index = 0, count = 1;
  Range of(std::size_t parts) const { return balanced_range(parts, count, index); }
};

class PartedOperator : public LinearOperator {
 public:
  virtual std::size_t parts() const = 0;
  /// The parts that this operator holds; it cannot compute the others.
  virtual Range held() const { return {0, parts()}; }
  /// Indices of the columns of these parts, in any order; no column is in two parts.
  virtual std::vector<std::uint32_t> columns_of(const Range& parts) const = 0;
  /// The contribution of each part to the data G m.  model [columns], of which only the parts' columns are
  /// read · sums [parts, rows]
  virtual void apply_parts(const Range& parts, std::span<const double> model,
                           std::span<double> sums) const = 0;
  /// These functions compute Gᵀ d, and Σ_i w_i G_ij², in the columns of these parts; other columns are not
  /// changed.
  virtual void transpose_parts(const Range& parts, std::span<const double> data,
                               std::span<double> model) const = 0;
  virtual void diagonal_parts(const Range& parts, std::span<const double> weight,
                              std::span<double> diagonal) const = 0;

  void apply(std::span<const double> model, std::span<double> data) const final;
  void apply_transpose(std::span<const double> data, std::span<double> model) const final;
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const final;
};

/// On rank 0: keeps track of the shared operators for which the other ranks compute products. Those ranks run
/// serve_products() from the first operator on until the last operator is destroyed; or, if stay() was
/// called, until this object is destroyed.
class Workers {
 public:
  /// comm: must outlive this object
  explicit Workers(Comm& comm) : comm_(comm) {}
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  Comm& comm() const { return comm_; }
  /// Whether the other ranks are in serve_products(); if not, they must enter it before an operator is made.
  bool serves() const { return (stays_ || operators_ > 0) && !parted_; }
  /// To be called when the other ranks have entered serve_products() without an operator.
  void stay() { stays_ = true; }
  /// Tells the other ranks to make their shares of another operator next. Precondition: serves().
  void ask_for_another();
  /// Tells the other ranks to run the `command` of serve_products() next, a collective action, and then to
  /// serve again. Precondition: serves().
  void send_command();

 private:
  friend class SharedOperator;
  enum class Wanted : int;
  friend void serve_products(Comm& comm, std::shared_ptr<const PartedOperator> first,
                             const std::function<std::shared_ptr<const PartedOperator>()>& another,
                             const std::function<void()>& command);
  struct Order;
  void begin(Wanted wanted, std::size_t number);

  Comm& comm_;
  bool stays_ = false;
  std::size_t operators_ = 0, next_ = 0;  ///< number of operators that exist; number of the next one
  bool parted_ = false;                   ///< true: a rank has failed, and all have left serve_products()
};

/// Rank 0's side of a shared operator, used like any other. The other ranks hold their shares in
/// serve_products().
class SharedOperator final : public LinearOperator {
 public:
  /// own: the share of rank 0. workers: ranks that have just made the other shares
  SharedOperator(std::shared_ptr<Workers> workers, std::shared_ptr<const PartedOperator> own);
  ~SharedOperator() override;  ///< the last destructor ends serve_products() on the other ranks
  SharedOperator(const SharedOperator&) = delete;
  SharedOperator& operator=(const SharedOperator&) = delete;

  std::size_t rows() const override { return own_->rows(); }
  std::size_t columns() const override { return own_->columns(); }
  /// The products throw the error of any rank; after that the other ranks have left serve_products(), and
  /// further products throw Error.
  void apply(std::span<const double> model, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> model) const override;
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;

 private:
  /// Gᵀ d or the diagonal: computes the columns of rank 0, then receives those of the other ranks.
  void gather(Workers::Wanted wanted, std::span<const double> data, std::span<double> model) const;
  Comm& comm() const { return workers_->comm_; }
  void expect_crew() const;

  std::shared_ptr<Workers> workers_;
  std::size_t number_;  ///< number by which all ranks name this operator
  std::shared_ptr<const PartedOperator> own_;
  std::vector<std::vector<std::uint32_t>> columns_;  ///< indices of the columns of each rank
};

/// On the other ranks: computes their shares of products until all operators of rank 0 are destroyed, or
/// until a rank fails, which rank 0 reports.  first: this rank's share of the first operator; null after
/// Workers::stay(); another: makes this rank's share of a further operator; null if a rank fails · command:
/// called on Workers::send_command()
void serve_products(Comm& comm, std::shared_ptr<const PartedOperator> first,
                    const std::function<std::shared_ptr<const PartedOperator>()>& another = {},
                    const std::function<void()>& command = {});

}  // namespace terrane::solve
