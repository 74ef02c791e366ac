// A journal's folder: which files are in it, whose they are, and who may write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/journal/format.hpp"

namespace tessera::runtime::journal {

inline constexpr const char* kFinished = "finished";  // a file of this name: the program came to its end

// The files of records, in an order that is the same for everybody.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder);
std::filesystem::path file_name(const std::filesystem::path& folder, std::uint64_t attempt, std::int32_t rank,
                                std::uint32_t number);
std::int64_t written_at(const std::filesystem::path& file);  // seconds since 1970; 0: not known

// Folder: one for a whole run, held by rank 0: nobody else may use it meanwhile.
class Folder {
 public:
  enum class Finished : std::uint8_t { goes, stays };
  // Makes the folder if there is none. What is wrong is in `wrong`, for a person; then nothing in it was touched.
  // A journal whose program came to its end goes: the run begins anew.
  Folder(std::filesystem::path path, const Origin& origin, Finished = Finished::goes);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // The program has come to its end.
  void finished() const;

  std::string wrong;
  bool was_finished = false;
  std::uint64_t attempt = 1;  // of this run

 private:
  void look(const Origin& origin, Finished);
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace tessera::runtime::journal
