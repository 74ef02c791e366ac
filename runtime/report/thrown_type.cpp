#include "runtime/report/thrown_type.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace tessera::runtime {

std::string thrown_type() {
  const std::type_info* const type = ::abi::__cxa_current_exception_type();
  if (type == nullptr) return "an exception of another language";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(::abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                         &std::free);
  return std::string("a value of type `") + (status == 0 ? name.get() : type->name()) + "`";
}

}  // namespace tessera::runtime
