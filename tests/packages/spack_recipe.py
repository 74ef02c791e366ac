#!/usr/bin/python3
"""spack_recipe.py ROOT: reads packaging/spack's recipe as Spack would, with a stand-in for Spack's module, and compares it with the tree: all that
CMake looks for is depended on, each option is CMake's, the source is this tree. Spack itself is not in Debian 12."""
import pathlib
import re
import runpy
import sys
import types

root = pathlib.Path(sys.argv[1]).resolve()
recipe = root / 'packaging/spack/packages/tessera/package.py'
wrong = []


class Anything:
    """What `with when(...)` and decorators take."""
    def __init__(self, *words, **options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return False

    def __call__(self, function):
        return function


depends, variants = set(), set()
spack = types.ModuleType('spack.package')


class CMakePackage:
    def define(self, name, value):
        return name

    def define_from_variant(self, name, variant):
        if variant not in variants:
            wrong.append(f'the variant {variant} is not declared')
        return name


for name in ('license', 'version', 'generator', 'extends', 'conflicts', 'when', 'run_after', 'on_package_attributes', 'Executable'):
    setattr(spack, name, Anything)
spack.CMakePackage = CMakePackage
spack.join_path = lambda *parts: '/'.join(map(str, parts))
spack.depends_on = lambda spec, **options: depends.add(re.split(r'[ @+~%]', spec)[0])
spack.variant = lambda name, **options: variants.add(name)
sys.modules['spack'] = types.ModuleType('spack')
sys.modules['spack.package'] = spack
package = runpy.run_path(str(recipe))['Tessera']

# What CMake finds, and the name of it in Spack.
names = {'TBB': 'tbb', 'CLI11': 'cli11', 'nlohmann_json': 'nlohmann-json', 'MPI': 'mpi', 'ZLIB': 'zlib-api', 'Threads': None, 'dw': 'elfutils',
         'pybind11': 'py-pybind11', 'Python3': None}
found = set()
for folder in ('balancer', 'cli', 'compiler', 'files', 'python', 'runtime'):
    for lists in (root / folder).rglob('CMakeLists.txt'):
        text = lists.read_text()
        found |= set(re.findall(r'find_package\((\w+)', text)) | set(re.findall(r'find_library\(\w+ (\w+)', text))
        if re.search(r'\bxxhash\b', text):
            found.add('xxhash')
for name in sorted(found):
    if (spack_name := names.get(name, name)) is not None and spack_name not in depends:
        wrong.append(f'CMake looks for {name}, and nothing depends on {spack_name}')
cmake = (root / 'CMakeLists.txt').read_text()
for option in package.cmake_args(package()):
    if option.startswith('TESSERA_') and f'option({option} ' not in cmake:
        wrong.append(f'CMake has no option {option}')
least = re.search(r'cmake_minimum_required\(VERSION ([\d.]+)', cmake)[1]
if f'cmake@{least}:' not in recipe.read_text():
    wrong.append(f'CMake {least} is what is needed')
if package.git != root.as_uri():
    wrong.append(f'the source is {package.git}')
if 'namespace: tessera' not in (root / 'packaging/spack/repo.yaml').read_text():
    wrong.append('repo.yaml has no namespace')
print('\n'.join(wrong) or f'all right: {len(found)} things that CMake looks for')
sys.exit(1 if wrong else 0)
