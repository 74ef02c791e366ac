// Program arguments become the parameters of `main`.
#pragma once

#include <string>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

// `int n, value a, name x`
std::string parameters_of_main(const abi::Program&);
// What one of these kinds of parameters wants, for a person: `an int`.
const char* wanted_by(char kind);
// Empty when the arguments fit main's parameters, else what is wrong, for a person.
std::string check_arguments(const abi::Program&, const std::vector<std::string>&);
// Fills main's frame; the arguments have been checked.
// `given`: values, by parameter.
void set_main_arguments(const abi::Program&, const std::vector<std::string>&, const std::vector<ValueRef>* given,
                        abi::Cf* main);

}  // namespace tessera::runtime
