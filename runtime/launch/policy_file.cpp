#include "runtime/launch/policy_file.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "balancer/plugin/plugin.hpp"
#include "runtime/launch/options.hpp"

namespace tessera::launch {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw OptionsError("the balancer " + file + " " + why);
}

const balancer::PluginDescription& description_of(const std::string& file) {
  // With a slash, or the system looks for it elsewhere. It stays loaded: its policies outlive this.
  void* const library = dlopen(fs::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(file, std::string("can't be loaded: ") + dlerror());
  const auto* found = static_cast<const balancer::PluginDescription*>(dlsym(library, "tessera_policy"));
  if (found == nullptr || found->magic != balancer::kPluginMagic) {
    refuse(file, "is a shared object without a policy: its source needs TESSERA_POLICY of balancer/plugin/plugin.hpp");
  }
  if (found->version != balancer::kPolicyInterface) {
    refuse(file, "was built for version " + std::to_string(found->version) + " of the interface of policies, this is " +
                     std::to_string(balancer::kPolicyInterface) + "; build it again with the headers of this Tessera");
  }
  if (found->layout != balancer::policy_layout()) {
    refuse(file, "was built with other headers or another compiler; build it again with the headers of this Tessera");
  }
  return *found;
}

}  // namespace

bool names_file(std::string_view balancer) {
  return balancer.find('/') != std::string_view::npos || balancer.ends_with(".so");
}

const balancer::PolicyInfo* find_policy(const std::string& balancer) {
  if (const balancer::PolicyInfo* known = balancer::find_policy(balancer)) return known;
  if (!names_file(balancer)) return nullptr;
  std::error_code ignored;
  if (!fs::exists(balancer, ignored)) refuse(balancer, "does not exist");
  if (!fs::is_regular_file(balancer, ignored)) refuse(balancer, "is no file");
  const balancer::PolicyInfo& info = description_of(balancer).policy();
  if (info.name.empty() || info.make == nullptr) refuse(balancer, "describes no policy: it has no name or no `make`");
  if (balancer::find_policy(info.name) != nullptr) {
    refuse(balancer, "calls itself `" + std::string(info.name) + "`, which is another's name");
  }
  balancer::add_policy(balancer, info);
  return &info;
}

}  // namespace tessera::launch
