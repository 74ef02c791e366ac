// Program arguments become the parameters of `main`.
#pragma once

#include <string>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

// Empty when the arguments fit main's parameters, else what is wrong, for a person.
std::string check_arguments(const abi::Program&, const std::vector<std::string>&);
// Fills main's frame; the arguments have been checked.
// `given`: values, by parameter.
void set_main_arguments(const abi::Program&, const std::vector<std::string>&, const std::vector<ValueRef>* given,
                        abi::Cf* main);

}  // namespace tessera::runtime
