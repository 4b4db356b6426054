// What most files of the library include, parsed once per target (terrane_precompiled in TerraneRoom.cmake).
// Every file still includes what it uses: builds without precompiled headers are the same.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
