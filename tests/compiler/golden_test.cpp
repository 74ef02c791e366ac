// Goldens: the block program of every program of `programs/`, the messages of every file of
// `mistakes/`, and one emitted body.
#include <gtest/gtest.h>

#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

TEST(Golden, BlockProgramsAfterAllPasses) {
  Options options;
  options.dump_after = "number-blocks";
  for (const auto& path : inputs("programs", ".fa")) {
    SCOPED_TRACE(path);
    const Output out = translate(path, options);
    EXPECT_TRUE(out.ok) << rendered(out, path.parent_path());
    expect_golden(path.stem().string() + ".ir", out.dump);
  }
}

// The pass that splits blocks is the one whose before and after are worth seeing.
TEST(Golden, IndirectIndicesBeforeStaging) {
  Options options;
  options.dump_after = "defer-arguments";
  const auto path = std::filesystem::path(TESSERA_COMPILER_TESTS) / "programs" / "indirect.fa";
  expect_golden("indirect.before.ir", translate(path, options).dump);
}

TEST(Golden, Messages) {
  for (const auto& path : inputs("mistakes", ".fa")) {
    SCOPED_TRACE(path);
    const Output out = translate(path, {});
    EXPECT_FALSE(out.diagnostics.empty());
    expect_golden(path.stem().string() + ".txt", rendered(out, path.parent_path()));
  }
}

TEST(Golden, OneEmittedBody) {
  const auto path = std::filesystem::path(TESSERA_COMPILER_TESTS) / "programs" / "numbers.fa";
  const Output out = translate(path, {});
  const std::size_t begin = out.program_cpp.find("void it");
  const std::size_t end = out.program_cpp.find("\n}\n", begin);
  ASSERT_NE(end, std::string::npos);
  expect_golden("numbers.body.cpp.txt", out.program_cpp.substr(begin, end + 3 - begin));
}

}  // namespace
}  // namespace tessera::compiler::testing
