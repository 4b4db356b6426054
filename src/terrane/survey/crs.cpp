#include "terrane/survey/crs.hpp"

#include <proj.h>
#include <proj_experimental.h>

#include <memory>
#include <string_view>

#include "terrane/base/constants.hpp"

namespace terrane {

namespace {

struct FreeOfProj {
  void operator()(PJ_CONTEXT* context) const { proj_context_destroy(context); }
  void operator()(PJ* object) const { proj_destroy(object); }
};

using ProjContext = std::unique_ptr<PJ_CONTEXT, FreeOfProj>;
using ProjObject = std::unique_ptr<PJ, FreeOfProj>;

ProjContext quiet_context() {
  ProjContext context(proj_context_create());
  proj_log_level(context.get(), PJ_LOG_NONE);
  proj_context_set_enable_network(context.get(), 0);
  return context;
}

ProjObject system_of(PJ_CONTEXT* context, const std::string& definition) {
  const bool bare =
      definition.find("+proj=") != std::string::npos && definition.find("+type=crs") == std::string::npos;
  return ProjObject(proj_create(context, (bare ? definition + " +type=crs" : definition).c_str()));
}

CrsAxes::Kind kind_of(const PJ* system) {
  switch (proj_get_type(system)) {
    case PJ_TYPE_PROJECTED_CRS:
      return CrsAxes::Kind::projected;
    case PJ_TYPE_GEOGRAPHIC_2D_CRS:
    case PJ_TYPE_GEOGRAPHIC_3D_CRS:
      return CrsAxes::Kind::geographic;
    case PJ_TYPE_VERTICAL_CRS:
      return CrsAxes::Kind::vertical;
    default:
      return CrsAxes::Kind::other;
  }
}

double meridian_of(PJ_CONTEXT* context, const PJ* system) {
  const ProjObject meridian(proj_get_prime_meridian(context, system));
  double longitude = 0, radians = 1;
  if (!meridian ||
      proj_prime_meridian_get_parameters(context, meridian.get(), &longitude, &radians, nullptr) == 0)
    return 0;
  return longitude * radians * 180 / pi;
}

std::optional<CrsAxes> axes_of(PJ_CONTEXT* context, const PJ* system) {
  const ProjObject axes(proj_crs_get_coordinate_system(context, system));
  if (!axes) return {};
  CrsAxes all{kind_of(system), 1, true};
  if (all.kind == CrsAxes::Kind::geographic) all.meridian = meridian_of(context, system);
  const int count = proj_cs_get_axis_count(context, axes.get());
  const int horizontal = all.kind == CrsAxes::Kind::vertical ? 1 : 2;
  if (count < horizontal) return {};
  for (int n = 0; n < horizontal; ++n) {
    const char* direction = nullptr;
    double unit = 0;
    if (proj_cs_get_axis_info(context, axes.get(), n, nullptr, nullptr, &direction, &unit, nullptr, nullptr,
                              nullptr) == 0 ||
        direction == nullptr)
      return {};
    const std::string_view to = direction;
    all.usual = all.usual &&
                (all.kind == CrsAxes::Kind::vertical ? to == "up" : to == "east" || to == "north") &&
                (n == 0 || unit == all.unit);
    all.unit = unit;
  }
  return all;
}

}  // namespace

std::optional<CrsAxes> crs_axes(const std::string& definition) {
  const auto context = quiet_context();
  auto system = system_of(context.get(), definition);
  if (system && proj_get_type(system.get()) == PJ_TYPE_COMPOUND_CRS)
    system.reset(proj_crs_get_sub_crs(context.get(), system.get(), 0));
  if (!system || proj_is_crs(system.get()) == 0) return {};
  return axes_of(context.get(), system.get());
}

std::string crs_in_metres(const std::string& definition) {
  const auto context = quiet_context();
  auto system = system_of(context.get(), definition);
  if (system && proj_get_type(system.get()) == PJ_TYPE_COMPOUND_CRS)
    system.reset(proj_crs_get_sub_crs(context.get(), system.get(), 0));
  if (!system || proj_get_type(system.get()) != PJ_TYPE_PROJECTED_CRS) return definition;
  const auto axes = axes_of(context.get(), system.get());
  if (!axes || !axes->usual || axes->unit == 1) return definition;
  const ProjObject altered(
      proj_crs_alter_cs_linear_unit(context.get(), system.get(), "metre", 1, "EPSG", "9001"));
  const char* const one_line[] = {"MULTILINE=NO", nullptr};
  const char* text = altered ? proj_as_wkt(context.get(), altered.get(), PJ_WKT2_2019, one_line) : nullptr;
  return text == nullptr ? definition : text;
}

std::string crs_wkt(const std::string& definition) {
  if (definition.empty()) return {};
  const auto context = quiet_context();
  const auto system = system_of(context.get(), definition);
  if (!system || proj_get_type(system.get()) != PJ_TYPE_PROJECTED_CRS) return {};
  const auto axes = axes_of(context.get(), system.get());
  if (!axes || !axes->usual || axes->unit != 1) return {};
  const char* const one_line[] = {"MULTILINE=NO", nullptr};
  const char* text = proj_as_wkt(context.get(), system.get(), PJ_WKT2_2019, one_line);
  return text == nullptr ? std::string() : text;
}

}  // namespace terrane
