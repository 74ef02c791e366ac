# The recipe stands in the tree that it builds (docs/clusters.md):
#   spack repo add packaging/spack && spack install tessera
import pathlib

from spack.package import *

try:  # Spack 1.0 and later
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass


class Tessera(CMakePackage):
    """Runs fragmented programs, C++ kernels and what they read and make, on threads and MPI ranks, evenly loaded."""

    # Of what is committed there.
    git = pathlib.Path(__file__).resolve().parents[4].as_uri()

    license("MIT")

    version("main")

    variant("python", default=False, description="the Python module")
    generator("ninja")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("mpi")
    depends_on("tbb")
    depends_on("spdlog +shared fmt_external=true")
    depends_on("fmt +shared")
    depends_on("cli11")
    depends_on("tomlplusplus")
    depends_on("nlohmann-json")
    depends_on("xxhash")
    depends_on("elfutils")
    depends_on("zlib-api")
    # Kernels include and link these, too, when a user's program is compiled.
    depends_on("cereal")
    depends_on("openblas")

    with when("+python"):
        extends("python")
        depends_on("py-pybind11", type="build")
        depends_on("py-numpy", type=("build", "run"))
        depends_on("py-pandas", type="run")

    conflicts("%gcc@:11", msg="C++20 as GCC 12 has it")
    conflicts("%clang@:13", msg="C++20 as Clang 14 has it")
    conflicts("platform=darwin", msg="Linux only")

    def cmake_args(self):
        return [
            self.define("TESSERA_TESTS", False),
            self.define("TESSERA_BENCH", False),
            self.define_from_variant("TESSERA_PYTHON", "python"),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define("CMAKE_UNITY_BUILD", True),
        ]

    def setup_run_environment(self, env):
        env.set("CXX", self.compiler.cxx)  # programs are compiled where they are run
        for name in ("cereal", "openblas"):
            env.prepend_path("CPATH", self.spec[name].prefix.include)
        for variable in ("LIBRARY_PATH", "LD_LIBRARY_PATH"):
            env.prepend_path(variable, self.spec["openblas"].prefix.lib)
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", join_path(self.prefix.lib, "python3", "dist-packages"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        with open("seven.fa", "w") as program:
            program.write("#include <std/base.fa>\nsub main() { print(7); }\n")
        tessera = Executable(self.prefix.bin.tessera)
        assert tessera("run", "-q", "seven.fa", output=str).strip() == "7"
