#include "cli/luna/kept_build.hpp"

#include <string>

#include "cli/cache.hpp"
#include "cli/failure.hpp"
#include "cli/hash.hpp"
#include "cli/install_file.hpp"
#include "cli/output_file.hpp"
#include "files/whole_file.hpp"

namespace fs = std::filesystem;

namespace tessera::cli::luna {
namespace {

std::string key_of(const BuildRequest& r) {
  Key key;
  key.add(fs::absolute(r.program).string()).add(r.cxxflags);
  for (const auto& [name, value] : r.translation.defines) key.add(name).add(value);
  key.add("path");
  for (const fs::path& f : r.translation.include_path) key.add(fs::absolute(f).string());
  key.add("kernels");
  for (const fs::path& f : r.kernels) key.add(fs::absolute(f).string());
  return key.hex();
}

}  // namespace

fs::path keep_build(const Options& o, const fs::path& library) {
  Cache cache;
  fs::path folder = o.build_folder.empty() ? cache.folder("builds/" + key_of(o.build)) : o.build_folder;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw usage_error("--build-dir: can't make " + folder.string() + ": " + failed.message());
  folder = fs::absolute(folder).lexically_normal();
  check_output("--build-dir", (folder / "program.cpp").string());

  const auto put = [&](const std::string& text, const char* name) {
    const std::string wrong = text.empty() ? "" : files::write_whole(folder / name, text);
    if (!wrong.empty()) throw environment_error("--build-dir: can't write " + (folder / name).string() + ": " + wrong);
  };
  const compiler::Output text = compiler::translate(o.build.program, o.build.translation);
  put(text.program_cpp, "program.cpp");
  for (std::size_t k = 0; k < text.program_parts.size(); ++k) {
    put(text.program_parts[k], ("program" + std::to_string(k + 2) + ".cpp").c_str());
  }
  put(text.kernels_cpp, "kernels.cpp");
  install_file(library, folder / "libucodes.so", "--build-dir");
  return folder / "libucodes.so";
}

}  // namespace tessera::cli::luna
