#include "terrane/solve/matrices/parted.hpp"

#include <algorithm>

#include "terrane/base/error.hpp"

namespace terrane::solve {

namespace {

/// sums [parts, rows] → data [rows]: adds neighbouring parts, then neighbouring pairs of parts, and so on.
void add_in_tree(std::span<double> sums, std::size_t parts, std::span<double> data) {
  const std::size_t rows = data.size();
  for (std::size_t apart = 1; apart < parts; apart *= 2)
    for (std::size_t p = 0; p + apart < parts; p += 2 * apart)
      for (std::size_t i = 0; i < rows; ++i) sums[p * rows + i] += sums[(p + apart) * rows + i];
  if (parts == 0) std::fill(data.begin(), data.end(), 0.0);
  else std::copy_n(sums.data(), rows, data.data());
}

}  // namespace

void PartedOperator::apply(std::span<const double> model, std::span<double> data) const {
  expect_shapes(*this, model.size(), data.size());
  std::vector<double> sums(parts() * rows());
  apply_parts({0, parts()}, model, sums);
  add_in_tree(sums, parts(), data);
}

void PartedOperator::apply_transpose(std::span<const double> data, std::span<double> model) const {
  expect_shapes(*this, model.size(), data.size());
  transpose_parts({0, parts()}, data, model);
}

void PartedOperator::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  expect_shapes(*this, diagonal.size(), weight.size());
  diagonal_parts({0, parts()}, weight, diagonal);
}

// ---- on ranks ----

enum class Workers::Wanted : int { nothing, another, product, transpose, diagonal, command, leave };

/// What rank 0 asks of all ranks, and for which operator.
struct Workers::Order {
  Wanted wanted = Wanted::nothing;
  std::uint32_t number = 0;
};

namespace {

Range parts_of(const PartedOperator& g, const Comm& comm, int rank) {
  return ShareOfParts{static_cast<std::size_t>(rank), static_cast<std::size_t>(comm.size())}.of(g.parts());
}

void send(Comm& comm, std::span<const double> values, int to) { comm.send(std::as_bytes(values), to); }
void receive(Comm& comm, std::span<double> values, int from) {
  comm.receive(std::as_writable_bytes(values), from);
}
void broadcast(Comm& comm, std::span<double> values) { comm.broadcast(std::as_writable_bytes(values), 0); }

}  // namespace

/// Sends an order to all ranks. Until all have reported that none failed, parted_ is true: the other ranks
/// count as having left serve_products().
void Workers::begin(Wanted wanted, std::size_t number) {
  Order order{wanted, static_cast<std::uint32_t>(number)};
  comm_.broadcast(std::as_writable_bytes(std::span(&order, 1)), 0);
  parted_ = true;
}

void Workers::ask_for_another() { begin(Wanted::another, 0); }

void Workers::send_command() {
  begin(Wanted::command, 0);
  parted_ = false;
}

Workers::~Workers() {
  if (stays_ && !parted_) begin(Wanted::leave, 0);
}

SharedOperator::SharedOperator(std::shared_ptr<Workers> workers, std::shared_ptr<const PartedOperator> own)
    : workers_(std::move(workers)),
      number_(workers_->stays_ || workers_->operators_ > 0 ? workers_->next_ : 0),
      own_(std::move(own)) {
  workers_->next_ = number_ + 1;
  ++workers_->operators_;
  workers_->parted_ = false;
  for (int rank = 0; rank < comm().size(); ++rank)
    columns_.push_back(own_->columns_of(parts_of(*own_, comm(), rank)));
}

SharedOperator::~SharedOperator() {
  --workers_->operators_;
  if (workers_->parted_) return;
  workers_->begin(Workers::Wanted::nothing, number_);
  workers_->parted_ = false;
}

void SharedOperator::expect_crew() const {
  if (workers_->parted_)
    throw Error("ranks", "a computation of these ranks failed before, and the other ranks wait no more",
                "Make the operator again.");
}

void SharedOperator::apply(std::span<const double> model, std::span<double> data) const {
  expect_shapes(*this, model.size(), data.size());
  expect_crew();
  const std::size_t n = rows();
  std::vector<double> sums(own_->parts() * n), slice;
  slice.reserve(columns());
  workers_->begin(Workers::Wanted::product, number_);
  for (int rank = 1; rank < comm().size(); ++rank) {
    slice.clear();
    for (const auto c : columns_[static_cast<std::size_t>(rank)]) slice.push_back(model[c]);
    send(comm(), slice, rank);
  }
  const auto mine = parts_of(*own_, comm(), 0);
  together(comm(), [&] { own_->apply_parts(mine, model, std::span(sums).first(mine.size() * n)); });
  for (int rank = 1; rank < comm().size(); ++rank) {
    const auto theirs = parts_of(*own_, comm(), rank);
    receive(comm(), std::span(sums).subspan(theirs.first * n, theirs.size() * n), rank);
  }
  workers_->parted_ = false;
  add_in_tree(sums, own_->parts(), data);
}

void SharedOperator::gather(Workers::Wanted wanted, std::span<const double> data,
                            std::span<double> model) const {
  expect_shapes(*this, model.size(), data.size());
  expect_crew();
  std::vector<double> copy(data.begin(), data.end()), slice(columns());
  workers_->begin(wanted, number_);
  broadcast(comm(), copy);
  const auto mine = parts_of(*own_, comm(), 0);
  together(comm(), [&] {
    if (wanted == Workers::Wanted::transpose) own_->transpose_parts(mine, data, model);
    else own_->diagonal_parts(mine, data, model);
  });
  for (int rank = 1; rank < comm().size(); ++rank) {
    const auto& theirs = columns_[static_cast<std::size_t>(rank)];
    const auto found = std::span(slice).first(theirs.size());
    receive(comm(), found, rank);
    for (std::size_t i = 0; i < theirs.size(); ++i) model[theirs[i]] = found[i];
  }
  workers_->parted_ = false;
}

void SharedOperator::apply_transpose(std::span<const double> data, std::span<double> model) const {
  gather(Workers::Wanted::transpose, data, model);
}

void SharedOperator::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  gather(Workers::Wanted::diagonal, weight, diagonal);
}

namespace {

/// A rank's share of an operator.
struct Share {
  std::shared_ptr<const PartedOperator> own;
  Range parts;
  std::vector<std::uint32_t> columns;
  std::vector<double> model, data, sums, slice;

  Share(const Comm& comm, std::shared_ptr<const PartedOperator> operator_here)
      : own(std::move(operator_here)),
        parts(parts_of(*own, comm, comm.rank())),
        columns(own->columns_of(parts)),
        model(own->columns()),
        data(own->rows()),
        sums(parts.size() * own->rows()),
        slice(columns.size()) {}

  /// Computes this rank's contribution to a product; returns false if a rank has failed.
  bool product(Comm& comm) {
    receive(comm, slice, 0);
    for (std::size_t i = 0; i < columns.size(); ++i) model[columns[i]] = slice[i];
    if (!all_do(comm, [&] { own->apply_parts(parts, model, sums); })) return false;
    send(comm, sums, 0);
    return true;
  }
  bool back(Comm& comm, bool squares) {
    broadcast(comm, data);
    const bool done = all_do(comm, [&] {
      if (squares) own->diagonal_parts(parts, data, model);
      else own->transpose_parts(parts, data, model);
    });
    if (!done) return false;
    for (std::size_t i = 0; i < columns.size(); ++i) slice[i] = model[columns[i]];
    send(comm, slice, 0);
    return true;
  }

 private:
  template <class Work>
  static bool all_do(Comm& comm, const Work& work) {
    try {
      together(comm, work);
    } catch (const std::exception&) {
      return false;  // rank 0 throws this error, too, and reports it
    }
    return true;
  }
};

}  // namespace

void serve_products(Comm& comm, std::shared_ptr<const PartedOperator> first,
                    const std::function<std::shared_ptr<const PartedOperator>()>& another,
                    const std::function<void()>& command) {
  std::vector<std::unique_ptr<Share>> shares;
  const bool stays = first == nullptr;
  if (!stays) shares.push_back(std::make_unique<Share>(comm, std::move(first)));
  for (std::size_t operators = shares.size(); stays || operators > 0;) {
    Workers::Order order;
    comm.broadcast(std::as_writable_bytes(std::span(&order, 1)), 0);
    switch (order.wanted) {
      case Workers::Wanted::nothing:
        shares[order.number].reset();
        --operators;
        break;
      case Workers::Wanted::another: {
        auto own = another();
        if (!own) return;
        shares.push_back(std::make_unique<Share>(comm, std::move(own)));
        ++operators;
        break;
      }
      case Workers::Wanted::command:
        command();
        break;
      case Workers::Wanted::leave:
        return;
      case Workers::Wanted::product:
        if (!shares[order.number]->product(comm)) return;
        break;
      case Workers::Wanted::transpose:
      case Workers::Wanted::diagonal:
        if (!shares[order.number]->back(comm, order.wanted == Workers::Wanted::diagonal)) return;
    }
  }
}

}  // namespace terrane::solve
