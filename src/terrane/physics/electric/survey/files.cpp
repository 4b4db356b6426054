#include "terrane/physics/electric/survey/files.hpp"

#include <algorithm>

#include "terrane/io/csv.hpp"

namespace terrane::electric {

Measured read_measured(const std::filesystem::path& file, const UbcColumn& column) {
  auto in = io::TextReader::open(file.string());
  const auto begin = in.mark();
  const auto words = io::first_words(in, "#!");
  in.rewind(begin);
  if (std::any_of(words.begin(), words.end(),
                  [](const std::string& word) { return word.starts_with("a_easting"); }))
    return io::to_electrode_data(io::read_csv(in), io::TakenValues::observed);
  double count = 0;
  const bool counted = words.size() == 1 && io::parse_number(words.front(), count);
  return counted ? io::read_bert(in) : io::read_ubc_dcip(in, column);
}

}  // namespace terrane::electric
