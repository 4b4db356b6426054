#include "terrane/simulation/write_result.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/io/dataset.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/io/vtkhdf.hpp"

namespace terrane {

namespace {

/// Writes a data set with some variables that are read entry by entry.
void write_entries(const Result& result, Sink& sink) {
  const auto& data = result.data;
  sink.define(data);
  for (const auto& [name, read] : result.entries) {
    Slab slab;
    slab.count = data.shape(*data.find(name));
    slab.start.assign(slab.count.size(), 0);
    const std::size_t entries = std::exchange(slab.count[0], 1);
    std::vector<float> values(
        std::accumulate(slab.count.begin(), slab.count.end(), std::size_t{1}, std::multiplies<>()));
    for (; slab.start[0] < entries; ++slab.start[0]) {
      read(slab.start[0], values);
      sink.put(name, slab, ValueSpan(std::span<const float>(values)));
    }
  }
  sink.finish();
}

io::WriteOptions options_of(const Result& result) {
  io::WriteOptions options;
  options.conventions = result.conventions;
  return options;
}

}  // namespace

std::vector<std::string> left_out(const std::string& path, const Result& result) {
  return io::left_out(path, result.data, options_of(result));
}

std::vector<std::string> written_files(const std::string& path, const Result& result) {
  return io::written_files(path, result.data, options_of(result));
}

double bytes_to_write(std::size_t stations, std::size_t survey_columns, std::size_t fields) {
  // Number of copies of each column and of the coordinates: those of the NetCDF library and of the file that
  // it builds in memory, or of other formats; for large files only one column at a time. Fitted to the peak
  // memory of jobs with one and ten channels.
  constexpr double copies = 2.7, of_places = 1.6;
  const auto of_survey = static_cast<double>(survey_columns), of_fields = static_cast<double>(fields),
             each = 8 * static_cast<double>(stations);
  const double columns = 1 + of_survey + of_fields;
  const bool whole = each * (columns + 2) <= static_cast<double>(io::netcdf_held_bytes);
  return each * (3 + of_survey + of_fields + (whole ? copies * (of_survey + of_fields) + of_places : 2));
}

Dataset to_dataset(const Result& result) {
  if (result.entries.empty()) return result.data;
  MemorySink sink;
  write_entries(result, sink);
  return sink.take();
}

/// Writes entries one by one if the format can; for other formats, all values are read into memory.
void write_result(const std::string& path, const Result& result) {
  if (result.entries.empty()) return io::write(path, result.data, options_of(result));
  const auto format = io::format_to_write(path).name;
  if (format == "netcdf") {
    io::NetcdfSink sink(path);
    return write_entries(result, sink);
  }
  if (format == "vtkhdf") {
    io::VtkhdfSink sink(path);
    return write_entries(result, sink);
  }
  auto held = result.data;
  std::erase_if(held.variables, [&](const Variable& v) {
    return std::any_of(result.entries.begin(), result.entries.end(),
                       [&](const Entries& e) { return e.variable == v.name; });
  });
  io::write(path, held);
}

}  // namespace terrane
