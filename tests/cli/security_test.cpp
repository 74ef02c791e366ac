// What somebody else on this machine, or on its network, could make use of.
#include "command.hpp"

namespace tessera::tests {
namespace {

class Security : public Command {};

// Prints how many ports this process listens on that other hosts reach.
constexpr const char* kPorts = R"(
C++ head ${{
#include <dirent.h>
#include <unistd.h>
#include <fstream>
#include <set>
#include <sstream>
static int open_ports() {
  std::set<std::string> own;
  DIR* all = opendir("/proc/self/fd");
  while (dirent* e = readdir(all)) {
    char to[256] = "";
    const ssize_t n = readlink(("/proc/self/fd/" + std::string(e->d_name)).c_str(), to, sizeof to - 1);
    const std::string link(to, n > 0 ? n : 0);
    if (link.rfind("socket:[", 0) == 0) own.insert(link.substr(8, link.size() - 9));
  }
  closedir(all);
  int count = 0;
  for (const char* file : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string n, local, remote, state, w, inode;
      words >> n >> local >> remote >> state >> w >> w >> w >> w >> w >> inode;
      if (state == "0A" && own.count(inode) && local.rfind("0100007F:", 0) != 0) ++count;
    }
  }
  return count;
}
$}}
C++ sub look(int i, name x) ${{ x = open_ports(); $}}
C++ sub show(int n) ${{ printf("%d\n", n); $}}
sub main() { df x; for i = 0..1 look(i, x[i]) @ { locator_cyclic: i; }; show(x[0] + x[1]); }
)";

TEST_F(Security, RanksOfOneHostOpenNoPorts) {
  write("p.fa", kPorts);
  const Outcome o = tessera({"run", "p.fa", "-n", "2", "-q"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "0\n");
}

// The search path of libraries ended in an empty item, which is the current folder.
// What an overflow would overwrite is read-only when the program runs.
TEST_F(Security, BuiltProgramsAreBoundAtTheirStart) {
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"build", "p.fa", "-o", "p"}), 0));
  const std::string text = run({"readelf", "-lWd", "p"}).out;
  EXPECT_NE(text.find("BIND_NOW"), std::string::npos) << text;
  EXPECT_NE(text.find("GNU_RELRO"), std::string::npos) << text;
  EXPECT_TRUE(ended(run({"./p"}), 0));
}

TEST_F(Security, NothingIsLoadedFromTheCurrentFolder) {
  write("p.fa", kHello);
  write("theirs.cpp", "#include <unistd.h>\n[[gnu::constructor]] static void run() { _exit(99); }\n");
  EXPECT_TRUE(ended(tessera({"build", "p.fa", "-o", "p"}), 0));
  EXPECT_TRUE(ended(run({"sh", "-c",
                         "g++ -shared -fPIC theirs.cpp -o theirs || exit\n"
                         "for l in xxhash.so.0 dw.so.1 spdlog.so.1.10 fmt.so.9 tbbmalloc.so.2 mpi.so.40; do\n"
                         "  ln -s theirs lib$l; done"}),
                    0));
  EXPECT_TRUE(ended(run({TESSERA_COMMAND, "--version"}), 0));
  EXPECT_TRUE(ended(run({LUNA_COMMAND, "--version"}), 0));
  EXPECT_TRUE(ended(run({"./p"}), 0));
}

}  // namespace
}  // namespace tessera::tests
