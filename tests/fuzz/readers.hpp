// Every reader that parses bytes, behind one signature: for the fuzz program, and for the test that feeds
// it the seed files.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace terrane::fuzz {

struct Reader {
  std::string_view name;            ///< also the folder of its seeds in corpus/
  void (*read)(std::string bytes);  ///< returns, or throws terrane::Error
  bool by_library = false;          ///< the bytes are parsed by a library of others
};

std::span<const Reader> readers();

}  // namespace terrane::fuzz
