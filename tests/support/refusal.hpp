// What an error said: the text of the Error that a call throws, or "accepted".
#pragma once

#include <string>

#include "terrane/base/error.hpp"

namespace terrane::test {

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace terrane::test
