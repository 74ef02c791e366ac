// A journal's folder: which files are in it, whose they are, and who may write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runtime/journal/format.hpp"

namespace tessera::runtime::journal {

inline constexpr const char* kFinished = "finished";  // a file of this name: the program came to its end

// The files of records, in an order that is the same for everybody.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder);
// What is named like one and is none, but a folder or a pipe: opening it might wait for ever.
std::vector<std::filesystem::path> not_files_of(const std::filesystem::path& folder);
std::filesystem::path file_name(const std::filesystem::path& folder, std::uint64_t attempt, std::int32_t rank,
                                std::uint32_t number);
std::int64_t written_at(const std::filesystem::path& file);  // seconds since 1970; 0: not known

// Folder: one for a whole run, held by rank 0: nobody else may use it meanwhile.
class Folder {
 public:
  enum class Finished : std::uint8_t { goes, stays };
  // Makes the folder if there is none. What is wrong is in `wrong`, for a person; then nothing in it was touched.
  // A journal whose program came to its end goes: the run begins anew.
  // Where another run is using it, or its ranks live on after it, waits for some seconds, and calls `waits` before.
  Folder(std::filesystem::path path, const Origin& origin, Finished = Finished::goes, std::function<void()> waits = {});
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // The program has come to its end.
  void finished() const;

  std::string wrong;
  bool was_finished = false;
  std::uint64_t attempt = 1;  // of this run
  std::string token;          // is in the folder while it is held

 private:
  bool take(const std::function<void()>& waits);
  void put_token();
  void look(const Origin& origin, Finished);
  std::filesystem::path path_;
  int lock_ = -1;
};

// The program has come to its end, and what it has printed is with the user.
void say_finished(const std::filesystem::path& folder);

// Of whoever holds the folder, as it is seen here.
std::string token_of(const std::filesystem::path& folder);

// Writing: a rank other than rank 0 that may write into the folder. The next run begins when there is none left.
class Writing {
 public:
  explicit Writing(const std::filesystem::path& folder);
  ~Writing();
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  int lock_;
};

}  // namespace tessera::runtime::journal
