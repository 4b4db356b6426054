// VTKHDF for ParaView and PyVista: fields over time at points that cells join.
//
// Of a data set with
//
//   coordinates  point_easting, point_northing, point_up (point) [m]
//   variables    cell_points (cell, corner): quadrilaterals or bricks, points counted from 0 in VTK's order
//                NAME (point), NAME (point, component), or either after one more dimension, which is time
//
// the file has the points, the cells and those fields: an UnstructuredGrid of version 2.0, in which the mesh
// stands once and time steps follow (VTK File Formats, VTKHDF). The coordinate that has the name of the outer
// dimension says when.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"
#include "terrane/data/sink.hpp"

namespace terrane::io {

/// Writes fields as they come, into space that is reserved before the first value; variables that the format
/// does not hold are ignored. The file appears complete or not at all. define() throws UnsupportedError: no
/// points and cells, or no field on them.
class VtkhdfSink final : public Sink {
 public:
  explicit VtkhdfSink(std::string path);
  ~VtkhdfSink() override;

 protected:
  void do_define(const Dataset& header) override;
  void do_put(const Variable& variable, const Slab& slab, const ValueSpan& values) override;
  void do_finish() override;

 private:
  class File;
  std::string path_;
  std::unique_ptr<File> file_;
};

/// Writes a data set that is in memory. Throws as the sink does.
void write_vtkhdf(const std::string& path, const Dataset& data);
/// Names of the variables that the file would not hold; values may be missing. Throws what writing would
/// throw.
std::vector<std::string> left_out_of_vtkhdf(const std::string& path, const Dataset& data);

}  // namespace terrane::io
