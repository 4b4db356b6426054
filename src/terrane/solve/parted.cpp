#include "terrane/solve/parted.hpp"

#include <algorithm>

namespace terrane::solve {

namespace {

/// sums [parts, rows] → data [rows]: neighbours first, then pairs, and so on.
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

enum class SharedOperator::Wanted : int { nothing, product, transpose, diagonal };

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

SharedOperator::SharedOperator(Comm& comm, std::shared_ptr<const PartedOperator> own)
    : comm_(comm), own_(std::move(own)) {
  for (int rank = 0; rank < comm.size(); ++rank)
    columns_.push_back(own_->columns_of(parts_of(*own_, comm, rank)));
}

SharedOperator::~SharedOperator() {
  if (!parted_) begin(Wanted::nothing);
}

void SharedOperator::begin(Wanted wanted) const {
  comm_.broadcast(std::as_writable_bytes(std::span(&wanted, 1)), 0);
  parted_ = true;  // until all agree that nobody failed
}

void SharedOperator::apply(std::span<const double> model, std::span<double> data) const {
  expect_shapes(*this, model.size(), data.size());
  const std::size_t n = rows();
  std::vector<double> sums(own_->parts() * n), slice;
  slice.reserve(columns());
  begin(Wanted::product);
  for (int rank = 1; rank < comm_.size(); ++rank) {
    slice.clear();
    for (const auto c : columns_[static_cast<std::size_t>(rank)]) slice.push_back(model[c]);
    send(comm_, slice, rank);
  }
  const auto mine = parts_of(*own_, comm_, 0);
  together(comm_, [&] { own_->apply_parts(mine, model, std::span(sums).first(mine.size() * n)); });
  for (int rank = 1; rank < comm_.size(); ++rank) {
    const auto theirs = parts_of(*own_, comm_, rank);
    receive(comm_, std::span(sums).subspan(theirs.first * n, theirs.size() * n), rank);
  }
  parted_ = false;
  add_in_tree(sums, own_->parts(), data);
}

void SharedOperator::gather(Wanted wanted, std::span<const double> data, std::span<double> model) const {
  expect_shapes(*this, model.size(), data.size());
  std::vector<double> copy(data.begin(), data.end()), slice(columns());
  begin(wanted);
  broadcast(comm_, copy);
  const auto mine = parts_of(*own_, comm_, 0);
  together(comm_, [&] {
    if (wanted == Wanted::transpose) own_->transpose_parts(mine, data, model);
    else own_->diagonal_parts(mine, data, model);
  });
  for (int rank = 1; rank < comm_.size(); ++rank) {
    const auto& theirs = columns_[static_cast<std::size_t>(rank)];
    const auto found = std::span(slice).first(theirs.size());
    receive(comm_, found, rank);
    for (std::size_t i = 0; i < theirs.size(); ++i) model[theirs[i]] = found[i];
  }
  parted_ = false;
}

void SharedOperator::apply_transpose(std::span<const double> data, std::span<double> model) const {
  gather(Wanted::transpose, data, model);
}

void SharedOperator::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  gather(Wanted::diagonal, weight, diagonal);
}

void serve_products(Comm& comm, const PartedOperator& own) {
  using Wanted = SharedOperator::Wanted;
  const auto mine = parts_of(own, comm, comm.rank());
  const auto columns = own.columns_of(mine);
  std::vector<double> model(own.columns()), data(own.rows()), sums(mine.size() * own.rows()),
      slice(columns.size());
  for (;;) {
    auto wanted = Wanted::nothing;
    comm.broadcast(std::as_writable_bytes(std::span(&wanted, 1)), 0);
    if (wanted == Wanted::nothing) return;
    const bool product = wanted == Wanted::product;
    if (product) {
      receive(comm, slice, 0);
      for (std::size_t i = 0; i < columns.size(); ++i) model[columns[i]] = slice[i];
    } else {
      broadcast(comm, data);
    }
    try {
      together(comm, [&] {
        if (product) own.apply_parts(mine, model, sums);
        else if (wanted == Wanted::transpose) own.transpose_parts(mine, data, model);
        else own.diagonal_parts(mine, data, model);
      });
    } catch (const std::exception&) {
      return;  // rank 0 throws it, too
    }
    if (product) {
      send(comm, sums, 0);
      continue;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) slice[i] = model[columns[i]];
    send(comm, slice, 0);
  }
}

}  // namespace terrane::solve
