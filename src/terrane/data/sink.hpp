// A sink accepts a data set piece by piece, so that large data sets need not be in memory as a whole.
//
//   sink.define(header);                        names, dimensions, units; coordinates with their values
//   for (each shot) sink.put("pressure", {shot, 0, 0}, {1, receivers, times}, values);
//   sink.finish();                              checks that no values are missing
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "terrane/data/dataset.hpp"

namespace terrane {

/// A view of the values of a variable, with one of the types of Values.
using ValueSpan =
    std::variant<std::span<const double>, std::span<const float>, std::span<const std::complex<double>>,
                 std::span<const std::complex<float>>, std::span<const std::int32_t>,
                 std::span<const unsigned char>, std::span<const std::string>>;

ValueSpan span_of(const Values& values);

/// A box of a variable: the first index and the number of entries along each of its dimensions.
struct Slab {
  std::vector<std::size_t> start, count;
};

/// Order of calls: define, put ..., finish; from one thread at a time.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  /// Announces all variables. Values in the header are written now; of variables without values the
  /// header only gives the type. Throws InputError, ShapeError (see check()); FileError.
  void define(const Dataset& header);
  /// Writes a box of a variable, row-major. Throws InputError (no such variable), ShapeError (outside the
  /// variable, another type, or a number of values that does not fit the box); FileError.
  void put(std::string_view variable, const Slab& slab, ValueSpan values);
  /// Writes all values of a variable.
  void put(std::string_view variable, ValueSpan values);
  /// Completes the data set. Throws ShapeError if values are missing, and removes what was written. Throws
  /// FileError.
  void finish();

 protected:
  virtual void do_define(const Dataset& header) = 0;
  virtual void do_put(const Variable& variable, const Slab& slab, const ValueSpan& values) = 0;
  virtual void do_finish() = 0;

 private:
  Dataset header_;                                           ///< header of the data set, without values
  std::map<std::string, std::size_t, std::less<>> missing_;  ///< number of values not yet put, by variable
};

/// A sink that keeps the whole data set in memory.
class MemorySink : public Sink {
 public:
  /// Moves the data set out, after finish().
  Dataset take() { return std::move(data_); }

 protected:
  void do_define(const Dataset& header) override;
  void do_put(const Variable& variable, const Slab& slab, const ValueSpan& values) override;
  void do_finish() override {}

 private:
  Dataset data_;
};

/// Writes a data set that is in memory into a sink.
void write(const Dataset& data, Sink& sink);

}  // namespace terrane
