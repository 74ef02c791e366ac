#include "files/private_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tessera::files {

PrivateFolder make_private(const std::filesystem::path& folder) {
  if (mkdir(folder.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return {std::strerror(errno)};
  struct stat s {};
  if (lstat(folder.c_str(), &s) != 0) return {std::strerror(errno)};
  const bool own_link = S_ISLNK(s.st_mode) && s.st_uid == geteuid();
  if (own_link && stat(folder.c_str(), &s) != 0) return {std::strerror(errno)};
  if (s.st_uid != geteuid()) return {"it belongs to another user (uid " + std::to_string(s.st_uid) + ")"};
  if (!S_ISDIR(s.st_mode)) return {"it is no folder"};
  if ((s.st_mode & 077) != 0 && chmod(folder.c_str(), 0700) != 0) return {std::strerror(errno)};
  return {"", (s.st_mode & 022) != 0};
}

}  // namespace tessera::files
