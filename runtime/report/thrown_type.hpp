// What a kernel has thrown, for messages.
#pragma once

#include <string>

namespace tessera::runtime {

// In a catch block: "a value of type `int`", as C++ spells the type of the exception that is handled.
std::string thrown_type();

}  // namespace tessera::runtime
