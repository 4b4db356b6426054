#include "terrane/survey/crs.hpp"

#include <proj.h>

#include <memory>
#include <string_view>

namespace terrane {

namespace {

struct FreeOfProj {
  void operator()(PJ_CONTEXT* context) const { proj_context_destroy(context); }
  void operator()(PJ* object) const { proj_destroy(object); }
};

/// Whether both axes are in metres, to the east and to the north, in either order.
bool in_metres(PJ_CONTEXT* context, const PJ* system) {
  const std::unique_ptr<PJ, FreeOfProj> axes(proj_crs_get_coordinate_system(context, system));
  if (!axes || proj_cs_get_axis_count(context, axes.get()) != 2) return false;
  for (int n = 0; n < 2; ++n) {
    const char* direction = nullptr;
    double metre = 0;
    if (proj_cs_get_axis_info(context, axes.get(), n, nullptr, nullptr, &direction, &metre, nullptr, nullptr,
                              nullptr) == 0 ||
        direction == nullptr || metre != 1)
      return false;
    const std::string_view to = direction;
    if (to != "east" && to != "north") return false;
  }
  return true;
}

}  // namespace

std::string crs_wkt(const std::string& definition) {
  if (definition.empty()) return {};
  const std::unique_ptr<PJ_CONTEXT, FreeOfProj> context(proj_context_create());
  proj_log_level(context.get(), PJ_LOG_NONE);
  proj_context_set_enable_network(context.get(), 0);
  const bool bare =
      definition.find("+proj=") != std::string::npos && definition.find("+type=crs") == std::string::npos;
  const std::unique_ptr<PJ, FreeOfProj> system(
      proj_create(context.get(), (bare ? definition + " +type=crs" : definition).c_str()));
  if (!system || proj_get_type(system.get()) != PJ_TYPE_PROJECTED_CRS ||
      !in_metres(context.get(), system.get()))
    return {};
  const char* const one_line[] = {"MULTILINE=NO", nullptr};
  const char* text = proj_as_wkt(context.get(), system.get(), PJ_WKT2_2019, one_line);
  return text == nullptr ? std::string() : text;
}

}  // namespace terrane
