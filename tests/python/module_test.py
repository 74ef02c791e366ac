"""Tests of the Python module: module_test.py Run|Wrong|Frames|Threads|Communicator|Example|Files. Exit code 77: something it needs is not here."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDS = {'Frames': ['numpy', 'pandas'], 'Communicator': ['numpy', 'mpi4py'], 'Example': ['numpy', 'pandas']}
if __name__ == '__main__':
    for name in NEEDS.get(sys.argv[1], ['numpy']):
        try:
            __import__(name)
        except ImportError:
            print(f'python: the module {name} (python3-{name}) is not here')
            sys.exit(77)

import numpy
import tessera

ECHO = '''
C++ sub pass(value v, name x) ${{ x = v; $}}
C++ sub size(value v, name n) ${{ n = (long)v.getSize(); $}}
sub main(value v, name x, name n) { pass(v, x); size(v, n); }
'''
KINDS = '''
C++ sub whole(int i, name x) ${{ x = i + 1; $}}
C++ sub big(long i, name x) ${{ x = i + 1; $}}
C++ sub half(real r, name x) ${{ x = r / 2; $}}
C++ sub more(string s, name x) ${{ x = std::string(s) + "!"; $}}
sub main(int i, long l, real r, string s, name whole_, name big_, name half_, name more_) {
  whole(i, whole_); big(l, big_); half(r, half_); more(s, more_);
}
'''
TIMES = '''
C++ sub times(value v, int factor, name x) ${{
  size_t n = v.getSize() / sizeof(double);
  double *to = x.create<double>(n);
  for (size_t i = 0; i < n; i++) to[i] = v.getData<double>()[i] * factor;
$}}
sub main(value v, int parts, name x) { df y; times(v, $FACTOR, y); times(y, $FACTOR * parts, x); }
'''
THROWS = '''
C++ sub inverse(int v, name x) ${{
  if (v == 0) throw std::runtime_error("there is no inverse of 0");
  x = 1.0 / v;
$}}
sub main(int v, name x) { inverse(v, x); }
'''


def resident():
    return int(pathlib.Path('/proc/self/statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE')


PROGRAMS = tempfile.TemporaryDirectory()


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, text, **options):
        file = pathlib.Path(PROGRAMS.name) / str(hash(text)) / 'p.fa'  # the same text is compiled once
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return tessera.compile(file, **options)

    def raises(self, kind, what, function, *arguments, **options):
        with self.assertRaises(kind) as caught:
            function(*arguments, **options)
        self.assertIn(what, str(caught.exception))
        return caught.exception


class Run(WithFolder):
    def test_arrays_come_back_as_they_went_in(self):
        echo = self.program(ECHO)
        record = numpy.zeros(3, [('a', 'i4'), ('b', 'f8')])
        record['b'] = 2.5
        for given in [numpy.arange(10.), numpy.arange(12, dtype=numpy.int16).reshape(3, 4), numpy.ones((2, 3, 4), complex),
                      numpy.arange(20)[::3], numpy.arange(6).reshape(2, 3).T, numpy.zeros(0), record, numpy.array(7.5),
                      numpy.array([True, False])]:
            r = echo.run(given)
            self.assertEqual(r['n'], given.nbytes)
            numpy.testing.assert_array_equal(r.array('x', given.dtype, given.shape), given)

    def test_scalars_have_the_kinds_of_main(self):
        kinds = self.program(KINDS)
        r = kinds(41, 2**40, 5.0, 'naïve')
        self.assertEqual([r[x] for x in r], [42, 2**40 + 1, 2.5, 'naïve!'])
        self.assertEqual([type(r[x]) for x in r], [int, int, float, str])
        r = kinds(numpy.int64(1), numpy.uint8(2), numpy.float32(3), '')
        self.assertEqual([r[x] for x in r], [2, 3, 1.5, '!'])

    def test_a_value_takes_what_there_is(self):
        echo = self.program(ECHO)
        for given in [5, -2**31, 2**31, -2**63, 0.5, 'text', '']:
            self.assertEqual(echo.run(given)['x'], given)
        self.assertEqual(bytes(echo.run(b'\0\1\2')['x']), b'\0\1\2')
        self.assertEqual(echo.run(True)['x'], 1)

    def test_a_result_is_an_argument_and_lives_as_long_as_it_is_used(self):
        echo = self.program(ECHO)
        block = echo.run(numpy.arange(1000.))['x']
        again = echo.run(block).array('x')
        del block
        numpy.testing.assert_array_equal(again, numpy.arange(1000.))
        with self.assertRaises(ValueError):
            again[0] = 1  # values never change

    def test_definitions_options_ranks_and_a_second_program(self):
        twice = self.program(TIMES, define={'FACTOR': 2}, options=['--cxxflags', '-O1'])
        thrice = self.program(TIMES, define={'FACTOR': 3})
        for ranks in (1, 3):
            for program, factor in ((twice, 4), (thrice, 9)):
                r = program.run(numpy.ones(5), 10, ranks=ranks, threads=1, balancer='steal')
                numpy.testing.assert_array_equal(r.array('x'), numpy.full(5, factor * 10.))

    def test_what_the_command_made_is_loaded(self):
        (self.folder / 'p.fa').write_text(ECHO)
        library = self.folder / 'libmine.so'
        subprocess.run([tessera.command(), 'build', '-q', '--library', self.folder / 'p.fa', '-o', library], check=True)
        self.assertEqual(tessera.load(library).run(3)['x'], 3)

    def test_a_run_leaves_no_memory_behind(self):
        echo = self.program(ECHO)
        for options in ({'threads': 1}, {'threads': 3}, {'threads': 1, 'ranks': 2}):
            sizes = []
            for _ in range(2):
                for _ in range(150):
                    echo.run(5, **options)
                sizes.append(resident())
            self.assertLess(sizes[1] - sizes[0], 3 << 20, options)  # one slab of the pools a run would be 9 MiB


class Wrong(WithFolder):
    def test_a_program_with_mistakes(self):
        e = self.raises(tessera.CompileError, 'T', self.program, 'sub main() { gone(1); }')
        self.assertIn('p.fa:1', str(e))
        self.assertEqual(e.exit_code, 1)
        self.assertEqual(self.raises(tessera.CompileError, 'no such file', tessera.compile, 'gone.fa').exit_code, 2)

    def test_warnings_are_warnings(self):
        with warnings.catch_warnings(record=True) as all_:
            warnings.simplefilter('always')
            self.program('C++ sub f(int a, name x) ${{ int unused[2]; x = a + unused[5]; $}}\n'
                         'sub main(name x, name y) { df z; f(1, x); f(2, y); f(3, z); }')
        self.assertTrue(any(issubclass(w.category, tessera.CompileWarning) and w.filename == __file__ for w in all_), all_)

    def test_a_run_that_fails_and_one_after_it(self):
        inverse = self.program(THROWS)
        for ranks in (1, 2):
            e = self.raises(tessera.RunError, 'there is no inverse of 0 [T409]', inverse, 0, ranks=ranks)
            self.assertEqual(e.exit_code, 1)
            self.assertIsInstance(e, tessera.Error)
            self.assertEqual(inverse(4)['x'], 0.25)

    def test_arguments_that_do_not_fit(self):
        inverse = self.program(THROWS)
        self.assertEqual(self.raises(tessera.RunError, 'takes 1 argument', inverse).exit_code, 2)
        self.raises(tessera.RunError, '`v` needs an int', inverse, 'two')
        self.raises(tessera.RunError, '`v` needs an int', inverse, numpy.ones(3))
        self.raises(tessera.RunError, '`v` needs an int', inverse, 2**40)
        self.raises(TypeError, 'argument 1 is a list', inverse, [1, 2])
        self.raises(TypeError, 'argument 1 is a NoneType', inverse, None)
        self.raises(TypeError, 'Python objects', inverse, numpy.array([None]))
        self.raises(TypeError, 'more than 64 bits', inverse, 2**63)

    def test_options_that_do_not_fit(self):
        inverse = self.program(THROWS)
        self.assertEqual(self.raises(tessera.RunError, 'unknown balancer', inverse, 1, balancer='best').exit_code, 2)
        self.raises(tessera.RunError, '--journal', inverse, 1, options='--journal here')
        self.raises(tessera.RunError, 'at least one rank', inverse, 1, ranks=0)
        self.raises(tessera.CompileError, '--colour-blind', self.program, THROWS, options=['--colour-blind'])

    def test_results_that_are_not_there_or_of_another_kind(self):
        r = self.program(ECHO)(numpy.zeros(3, numpy.int32))
        self.raises(KeyError, '`x` `n`', lambda: r['y'])
        self.raises(ValueError, '12 bytes, which is no array of float64', r.array, 'x')
        self.raises(TypeError, 'is no array but 12', r.array, 'n')
        self.raises(ValueError, 'reshape', r.array, 'x', numpy.int32, (2, 2))

    def test_files_that_are_none(self):
        self.raises(tessera.RunError, 'cannot open', tessera.load, self.folder / 'libgone.so')
        with open('/proc/self/maps', encoding='utf-8') as maps:
            libm = next(line.split()[-1] for line in maps if '/libm.' in line)
        self.raises(tessera.RunError, 'is no program', tessera.load, libm)
        (self.folder / 'a').write_text('{"format": "other"}')
        self.raises(tessera.Error, 'is no summary', tessera.summary, self.folder / 'a')
        self.raises(tessera.Error, 'a', tessera.trace, self.folder / 'a')
        (self.folder / 'a').write_text('no JSON')
        self.raises(tessera.Error, 'is no summary', tessera.summary, self.folder / 'a')

    def test_no_command(self):
        self.addCleanup(os.environ.pop, 'TESSERA_COMMAND', None)
        os.environ['TESSERA_COMMAND'] = '/nowhere/tessera'
        self.raises(tessera.Error, '/nowhere/tessera', self.program, ECHO)


class Frames(WithFolder):
    def test_summaries_and_traces(self):
        times = self.program(TIMES, define={'FACTOR': 2})
        trace, file = self.folder / 'run.trace', self.folder / 'run.json'
        r = times.run(numpy.ones(1000), 1, ranks=2, threads=1, options=f'--record {trace} --summary {file}')
        for s in (r.summary, tessera.summary(file)):
            self.assertEqual(s['worker_ranks'], 2)
            self.assertEqual(len(s.ranks), 2)
            self.assertEqual(list(s.groups.query('label == "times"')['count']), [1, 1])
            self.assertAlmostEqual(s.ranks.busy_seconds.sum(), (s.groups['count'] * s.groups.mean_ns).sum() / 1e9, delta=1e-3)
        t = tessera.trace(trace)
        kernels = t.fragments.query('kind == "kernel" and group == "times"')
        self.assertEqual(len(kernels), 2)
        self.assertTrue((kernels.length_ns > 0).all())
        self.assertIs(t.fragments, t.fragments)
        for name in 'inputs', 'workers', 'messages', 'moves', 'decisions', 'memory':
            self.assertGreater(len(getattr(t, name).columns), 3)
        self.raises(AttributeError, 'no table', lambda: t.lines)


class Threads(WithFolder):
    def test_others_go_on_and_runs_wait_for_each_other(self):
        sleep = self.program('C++ sub nap(int ms, name x) ${{ usleep(1000 * ms); x = ms; $}}\nsub main(int ms, name x) { nap(ms, x); }')
        results, turns = [], 0
        runs = [threading.Thread(target=lambda: results.append(sleep(200)['x'])) for _ in range(2)]
        for t in runs:
            t.start()
        while any(t.is_alive() for t in runs):
            turns += 1
            time.sleep(0.01)
        self.assertEqual(results, [200, 200])
        self.assertGreater(turns, 5)  # one who has held the interpreter all the time lets nobody count


class Communicator(WithFolder):
    def test_ranks_of_the_caller(self):
        (self.folder / 'p.fa').write_text(TIMES)
        (self.folder / 'caller.py').write_text('''
from mpi4py import MPI
import numpy, tessera
world = MPI.COMM_WORLD
p = tessera.compile('p.fa', define={'FACTOR': 3})
half = world.Split(world.rank % 2)  # two runs beside each other
r = p.run(numpy.full(4, 1. + world.rank), 2, communicator=half, threads=1)
assert r.here == (half.rank == 0), world.rank
mine = r.array('x')[0] if r.here else None
everywhere = p.run(numpy.ones(4), 1, communicator=world, threads=1, results_everywhere=True)
all_ = world.gather((mine, everywhere.array('x')[0]))
if world.rank == 0:
    print(all_)
try:
    p.run(1, 2, 3, communicator=world)
except tessera.RunError as e:
    n = world.reduce(e.exit_code)
    if world.rank == 0:
        print(n, e)
''')
        made = subprocess.run(['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', '3', sys.executable, 'caller.py'],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(made.returncode, 0, made.stdout)
        self.assertIn('[(18.0, 9.0), (36.0, 9.0), (None, 9.0)]\n6 p.fa: main(value v, int parts, name x) takes 2 arguments', made.stdout)


class Example(unittest.TestCase):
    def test_the_sandpile_falls_as_numpy_has_it(self):
        pile = numpy.zeros((42, 42), int)
        pile[21, 21] = 1000
        falls = 0
        while (high := pile >= 4).any():
            falls += high.sum()
            pile -= 4 * high
            for axis in (0, 1):
                for step in (1, -1):
                    pile += numpy.roll(high, step, axis)
            pile[[0, -1]] = pile[:, [0, -1]] = 0  # beyond the edge
        made = subprocess.run([sys.executable, ROOT / 'examples/python/sandpile.py', 'pandas'], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(made.returncode, 0, made.stdout)
        lines = made.stdout.splitlines()
        self.assertEqual(lines[0], f'cells fell over {falls} times; {numpy.count_nonzero(pile)} have grains, the highest {pile.max()}')
        self.assertEqual(lines[1:3], ['grains 1000 -> 1000', 'it lies still: True'])
        self.assertTrue(lines[3].startswith('exit code 2: sandpile.fa: argument 2 of main('), lines[3])
        self.assertIn('topple', made.stdout)


class Files(WithFolder):
    """What examples write, read by others."""

    def field(self, example, *options):
        file = self.folder / f'{example}.out'
        made = subprocess.run([tessera.command(), 'run', '-q', '-n', '3', ROOT / f'examples/{example}/{example}.fa', '-D', f'FILE="{file}"',
                               '-D', 'ROWS=210', '-D', 'COLUMNS=90', '-D', 'STRIPS=4', *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual((made.returncode, made.stdout), (0, f'18900 numbers from {self.expected().min():.3f} to {self.expected().max():.3f}\n'))
        return file

    def expected(self):
        return numpy.sin(20 * numpy.arange(210) / 210)[:, None] * numpy.cos(20 * numpy.arange(90) / 90)

    def test_numpys_format(self):
        numpy.testing.assert_allclose(numpy.load(self.field('field')), self.expected(), atol=1e-12)

    def test_hdf5(self):
        flags = [subprocess.run(['pkg-config', f'--{what}', 'hdf5-serial'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()
                 for what in ('cflags', 'libs')] if shutil.which('pkg-config') else ['']
        if not flags[-1] or not shutil.which('h5dump'):
            self.skipTest('HDF5 (libhdf5-dev, hdf5-tools, pkg-config) is not here')
        file = self.field('hdf5', '--cxxflags', flags[0], '--ldflags', flags[1])
        numbers = self.folder / 'numbers'
        subprocess.run(['h5dump', '-d', 'field', '-b', 'LE', '-o', numbers, file], check=True, stdout=subprocess.DEVNULL)
        numpy.testing.assert_allclose(numpy.fromfile(numbers).reshape(210, 90), self.expected(), atol=1e-12)


if __name__ == '__main__':
    unittest.main()
