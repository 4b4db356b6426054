// VTKHDF for ParaView and PyVista: time-dependent fields at the points of an unstructured mesh.
//
// From a data set with
//
//   coordinates  point_easting, point_northing, point_up (point) [m]
//   variables    cell_points (cell, corner): quadrilaterals or bricks, indices of points from 0, VTK's order
//                NAME (point), NAME (point, component), or either with time as an additional first dimension
//
// it writes the points, the cells and the fields as an UnstructuredGrid of version 2.0, in which all time
// steps share one mesh (VTK File Formats, VTKHDF). The coordinate variable with the name of the first
// dimension has the times.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"
#include "terrane/data/sink.hpp"

namespace terrane::io {

/// Writes fields piece by piece into disk space that is reserved before the first value; ignores variables
/// that the format cannot hold. The file appears complete or not at all. define() throws UnsupportedError: no
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

/// Writes a data set that is in memory. Throws what VtkhdfSink throws.
void write_vtkhdf(const std::string& path, const Dataset& data);
/// The names of the variables that the file would not hold; variables may be without values. Throws what
/// writing would throw.
std::vector<std::string> left_out_of_vtkhdf(const std::string& path, const Dataset& data);

}  // namespace terrane::io
