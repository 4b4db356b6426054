#include "terrane/survey/projection.hpp"

#include <fmt/format.h>
#include <proj.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/survey/crs.hpp"

namespace terrane {

namespace {

struct Free {
  void operator()(PJ_CONTEXT* context) const { proj_context_destroy(context); }
  void operator()(PJ* object) const { proj_destroy(object); }
};
using Context = std::unique_ptr<PJ_CONTEXT, Free>;
using Object = std::unique_ptr<PJ, Free>;

void same_length(std::size_t a, std::size_t b, const std::string& where) {
  if (a != b)
    throw ShapeError(where, fmt::format("arrays of {} and {} values", a, b),
                     "Give one value of each per point.");
}

[[noreturn]] void refuse(const std::string& definition, const std::string& problem) {
  throw InputError(
      "projection", fmt::format("\"{}\" {}", definition, problem),
      "Give an EPSG code (\"EPSG:32735\"), a PROJ string (\"+proj=laea +lat_0=-25 +lon_0=28\") or "
      "\"utm\".");
}

/// The longitude, shifted by multiples of 360°, in the interval [west, west + 360).
double wrapped(double longitude, double west) {
  const double turns = std::floor((longitude - west) / 360);
  return turns == 0 ? longitude : longitude - 360 * turns;
}

/// The grid's value at a point in degrees; its longitude may differ from those of the grid by multiples of
/// 360°.
double geographic_value(const Grid& grid, double longitude, double latitude) {
  const double value = grid.interpolate(longitude, latitude);
  if (!std::isnan(value)) return value;
  return grid.interpolate(wrapped(longitude, grid.easting.front()), latitude);
}

void require_geographic(const Grid& grid, const std::string& where) {
  check(grid, where);
  if (!grid.geographic)
    throw InputError(where, "the grid is not in degrees of longitude and latitude",
                     "It needs no projection, or its axes lack the units degrees_east and degrees_north.");
}

}  // namespace

struct Projection::Impl {
  std::string given;       // as the user wrote it, for messages
  std::string definition;  // with axes in metres
  Context context;
  // Transforms longitude and latitude to the system's axes in the order of PROJ's normalisation.
  Object transform;
  std::array<double, 2> to_metre{1, 1};  // metres per unit of the axes; negative if they point west or south
  mutable std::mutex mutex;              // only one thread at a time may use a PROJ context

  explicit Impl(const std::string& text)
      : given(text), definition(crs_in_metres(text)), context(proj_context_create()) {
    proj_log_level(context.get(), PJ_LOG_NONE);
    proj_context_set_enable_network(context.get(), 0);
    const bool bare = text.find("+proj=") != std::string::npos && text.find("+type=crs") == std::string::npos;
    Object system(proj_create(context.get(), (bare ? text + " +type=crs" : text).c_str()));
    if (!system) {
      refuse(text, "is not a projection known to PROJ");
    }
    read_axes(*system);
    Object wgs84(proj_create(context.get(), "EPSG:4326"));
    if (!wgs84)
      throw FileError("projection", "PROJ does not find its database proj.db",
                      "Install the package proj-data, or set PROJ_LIB to the folder that holds proj.db.");
    Object raw(proj_create_crs_to_crs_from_pj(context.get(), wgs84.get(), system.get(), nullptr, nullptr));
    if (raw) transform.reset(proj_normalize_for_visualization(context.get(), raw.get()));
    if (!transform) refuse(text, "cannot be reached from longitude and latitude (WGS84)");
  }

  void read_axes(PJ& system) {
    PJ* plane = &system;
    Object part;
    for (;;) {
      const PJ_TYPE type = proj_get_type(plane);
      if (type == PJ_TYPE_PROJECTED_CRS) break;
      if (type == PJ_TYPE_BOUND_CRS) part.reset(proj_get_source_crs(context.get(), plane));
      else if (type == PJ_TYPE_COMPOUND_CRS) part.reset(proj_crs_get_sub_crs(context.get(), plane, 0));
      else if (type == PJ_TYPE_GEOGRAPHIC_2D_CRS || type == PJ_TYPE_GEOGRAPHIC_3D_CRS)
        refuse(given, "is a system of longitude and latitude, not a projection onto a plane");
      else refuse(given, "is not a projected system");
      plane = part.get();
      if (!plane) refuse(given, "has no projected part");
    }
    Object axes(proj_crs_get_coordinate_system(context.get(), plane));
    std::array<std::string, 2> direction;
    std::array<double, 2> factor{1, 1};
    for (int q = 0; q < 2; ++q) {
      const char* name = nullptr;
      if (!axes || !proj_cs_get_axis_info(context.get(), axes.get(), q, nullptr, nullptr, &name,
                                          &factor[static_cast<std::size_t>(q)], nullptr, nullptr, nullptr))
        refuse(given, "has axes that PROJ does not describe");
      direction[static_cast<std::size_t>(q)] = name ? name : "";
    }
    // PROJ's normalisation puts easting first, but neither reverses axes to the south and west nor converts
    // feet.
    const auto is = [&](const char* first, const char* second) {
      return direction[0] == first && direction[1] == second;
    };
    if (is("north", "east") || is("south", "west")) std::swap(factor[0], factor[1]);
    to_metre = factor;
    if (is("south", "west") || is("west", "south")) to_metre = {-factor[0], -factor[1]};
  }

  /// Transforms x, y in place; the coordinates of a point that cannot be transformed become NaN.
  void apply(PJ_DIRECTION direction, std::span<double> x, std::span<double> y) const {
    const std::lock_guard lock(mutex);
    if (direction == PJ_INV)
      for (std::size_t n = 0; n < x.size(); ++n) {
        x[n] /= to_metre[0];
        y[n] /= to_metre[1];
      }
    proj_errno_reset(transform.get());
    proj_trans_generic(transform.get(), direction, x.data(), sizeof(double), x.size(), y.data(),
                       sizeof(double), y.size(), nullptr, 0, 0, nullptr, 0, 0);
    proj_errno_reset(transform.get());
    for (std::size_t n = 0; n < x.size(); ++n) {
      if (!std::isfinite(x[n]) || !std::isfinite(y[n])) x[n] = y[n] = nan;
      if (direction == PJ_FWD) {
        x[n] *= to_metre[0];
        y[n] *= to_metre[1];
      }
    }
  }

  void transform_all(PJ_DIRECTION direction, std::span<const double> x, std::span<const double> y,
                     std::span<double> out_x, std::span<double> out_y) const {
    for (std::size_t length : {y.size(), out_x.size(), out_y.size()})
      same_length(x.size(), length, "projection");
    const std::vector<double> given_x(x.begin(), x.end()), given_y(y.begin(), y.end());
    std::copy(x.begin(), x.end(), out_x.begin());
    std::copy(y.begin(), y.end(), out_y.begin());
    apply(direction, out_x, out_y);
    for (std::size_t n = 0; n < given_x.size(); ++n) {
      const bool valid = std::isfinite(given_x[n]) && std::isfinite(given_y[n]) &&
                         (direction == PJ_INV || std::fabs(given_y[n]) <= 90);
      if (valid && !std::isnan(out_x[n])) continue;
      throw InputError(
          "projection",
          direction == PJ_FWD
              ? fmt::format("row {}: longitude {}, latitude {} cannot be projected with \"{}\"", n + 1,
                            given_x[n], given_y[n], given)
              : fmt::format("row {}: easting {}, northing {} has no longitude and latitude in \"{}\"", n + 1,
                            given_x[n], given_y[n], given),
          "Check the row and the order of its columns, or choose a projection whose domain holds it.");
    }
  }
};

Projection::Projection(const std::string& definition) : impl_(std::make_shared<const Impl>(definition)) {}

Projection Projection::for_points(const std::string& definition, std::span<const double> longitude,
                                  std::span<const double> latitude) {
  return Projection(definition == "utm" || definition == "UTM" ? utm_zone(longitude, latitude) : definition);
}

const std::string& Projection::definition() const noexcept { return impl_->definition; }

void Projection::forward(std::span<const double> longitude, std::span<const double> latitude,
                         std::span<double> easting, std::span<double> northing) const {
  impl_->transform_all(PJ_FWD, longitude, latitude, easting, northing);
}

void Projection::inverse(std::span<const double> easting, std::span<const double> northing,
                         std::span<double> longitude, std::span<double> latitude) const {
  impl_->transform_all(PJ_INV, easting, northing, longitude, latitude);
}

std::string utm_zone(std::span<const double> longitude, std::span<const double> latitude) {
  same_length(longitude.size(), latitude.size(), "utm");
  if (longitude.empty())
    throw InputError("utm", "there are no points to choose a zone for", "Name the zone by its EPSG code.");
  double east = 0, north = 0, mean_latitude = 0;
  for (std::size_t n = 0; n < longitude.size(); ++n) {
    east += std::sin(longitude[n] * (pi / 180));
    north += std::cos(longitude[n] * (pi / 180));
    mean_latitude += latitude[n] / static_cast<double>(latitude.size());
  }
  const double mean_longitude = std::atan2(east, north) * (180 / pi);
  if (!std::isfinite(mean_longitude) || !(mean_latitude >= -80 && mean_latitude <= 84))
    throw InputError(
        "utm",
        fmt::format("no zone for the mean longitude {:.4g}, latitude {:.4g}", mean_longitude, mean_latitude),
        "UTM reaches from 80°S to 84°N; nearer the poles use EPSG:32661 or EPSG:32761.");
  const int zone = std::clamp(static_cast<int>(std::floor((mean_longitude + 180) / 6)) + 1, 1, 60);
  return fmt::format("EPSG:32{}{:02d}", mean_latitude < 0 ? 7 : 6, zone);
}

void project(Survey& survey, const Projection& projection) {
  Column longitude{"longitude", "degrees_east", "longitude (WGS84)", survey.easting};
  Column latitude{"latitude", "degrees_north", "latitude (WGS84)", survey.northing};
  projection.forward(longitude.values, latitude.values, survey.easting, survey.northing);
  std::erase_if(survey.columns,
                [](const Column& c) { return c.name == "longitude" || c.name == "latitude"; });
  survey.columns.insert(survey.columns.begin(), {std::move(longitude), std::move(latitude)});
  survey.grid.reset();
  survey.projection = projection.definition();
}

Region projected_region(const Grid& geographic, const Projection& projection) {
  require_geographic(geographic, "grid");
  std::vector<double> x, y;
  for (double longitude : geographic.easting)
    for (double latitude : {geographic.northing.front(), geographic.northing.back()}) {
      x.push_back(longitude);
      y.push_back(latitude);
    }
  for (double latitude : geographic.northing)
    for (double longitude : {geographic.easting.front(), geographic.easting.back()}) {
      x.push_back(longitude);
      y.push_back(latitude);
    }
  projection.forward(x, y, x, y);
  const auto [west, east] = std::minmax_element(x.begin(), x.end());
  const auto [south, north] = std::minmax_element(y.begin(), y.end());
  return {*west, *east, *south, *north};
}

Grid project_grid(const Grid& geographic, const Projection& projection, std::array<double, 2> spacing,
                  const Region* region) {
  require_geographic(geographic, "grid");
  if (geographic.n_east() < 2 || geographic.n_north() < 2)
    throw InputError("grid", fmt::format("{} × {} nodes", geographic.n_east(), geographic.n_north()),
                     "Interpolation needs two nodes along each axis.");
  for (double s : spacing)
    if (!(s >= 0) || std::isinf(s))
      throw InputError("grid: spacing", fmt::format("the spacing is {} m", s),
                       "Give metres above zero, or 0 for the source's own spacing.");
  const Region area = region ? *region : projected_region(geographic, projection);
  if (!(area.west < area.east) || !(area.south < area.north) || !std::isfinite(area.east - area.west) ||
      !std::isfinite(area.north - area.south))
    throw InputError(
        "grid: region",
        fmt::format("west {}, east {}, south {}, north {}", area.west, area.east, area.south, area.north),
        "Finite metres with west < east and south < north.");
  // The spacing of the source grid, projected at the middle of the region.
  if (spacing[0] == 0 || spacing[1] == 0) {
    std::array<double, 1> x{0.5 * (area.west + area.east)}, y{0.5 * (area.south + area.north)};
    projection.inverse(x, y, x, y);
    const auto& lon = geographic.easting;
    const auto& lat = geographic.northing;
    const double d_lon = (lon.back() - lon.front()) / static_cast<double>(lon.size() - 1);
    const double d_lat = (lat.back() - lat.front()) / static_cast<double>(lat.size() - 1);
    const double step_lat = y[0] + d_lat > 90 ? -d_lat : d_lat;
    std::array<double, 3> px{x[0], x[0] + d_lon, x[0]}, py{y[0], y[0], y[0] + step_lat};
    projection.forward(px, py, px, py);
    if (spacing[0] == 0) spacing[0] = std::hypot(px[1] - px[0], py[1] - py[0]);
    if (spacing[1] == 0) spacing[1] = std::hypot(px[2] - px[0], py[2] - py[0]);
  }
  const auto count = [](double length, double step) { return std::ceil(length / step - 1e-9) + 1; };
  const double n_east = count(area.east - area.west, spacing[0]);
  const double n_north = count(area.north - area.south, spacing[1]);
  if (!(n_east * n_north <= 1e9))
    throw InputError(
        "grid: spacing",
        fmt::format("{} m × {} m over {:.4g} km × {:.4g} km makes {:.3g} nodes", spacing[0], spacing[1],
                    (area.east - area.west) / 1e3, (area.north - area.south) / 1e3, n_east * n_north),
        "Choose a wider spacing or a smaller region.");
  Grid plane;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_east); ++i)
    plane.easting.push_back(area.west + static_cast<double>(i) * spacing[0]);
  for (std::size_t j = 0; j < static_cast<std::size_t>(n_north); ++j)
    plane.northing.push_back(area.south + static_cast<double>(j) * spacing[1]);
  plane.values.reserve(plane.n_east() * plane.n_north());
  std::vector<double> x, y;
  for (double northing : plane.northing) {
    x = plane.easting;
    y.assign(x.size(), northing);
    projection.impl_->apply(PJ_INV, x, y);
    for (std::size_t i = 0; i < x.size(); ++i)
      plane.values.push_back(std::isnan(x[i]) ? nan : geographic_value(geographic, x[i], y[i]));
  }
  return plane;
}

std::vector<double> ellipsoidal_height(std::span<const double> longitude, std::span<const double> latitude,
                                       std::span<const double> height, const Grid& geoid) {
  require_geographic(geoid, "geoid");
  same_length(longitude.size(), latitude.size(), "geoid");
  same_length(longitude.size(), height.size(), "geoid");
  std::vector<double> out(height.size());
  for (std::size_t n = 0; n < height.size(); ++n) {
    const double undulation = geographic_value(geoid, longitude[n], latitude[n]);
    if (std::isnan(undulation))
      throw InputError(
          "geoid",
          fmt::format(
              "row {}: longitude {}, latitude {} has no geoid height: the grid reaches from {} to {} east "
              "and from {} to {} north",
              n + 1, longitude[n], latitude[n], geoid.easting.front(), geoid.easting.back(),
              geoid.northing.front(), geoid.northing.back()),
          "Give a grid that holds every station and has no gap there.");
    out[n] = height[n] + undulation;
  }
  return out;
}

}  // namespace terrane
