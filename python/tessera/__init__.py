"""Fragmented programs, compiled and run from Python: docs/python.md.

    import numpy, tessera
    smooth = tessera.compile('smooth.fa')
    r = smooth.run(numpy.zeros(1000), 4, 0.0, threads=2)
    r['largest'], r.array('smooth')
"""

import os
import sys
import tempfile
import warnings

import numpy

from . import _tessera
from .commands import ask, command
from .errors import CompileError, CompileWarning, Error, RunError
from .records import Summary, Trace, summary, trace

__all__ = ['CompileError', 'CompileWarning', 'Error', 'Program', 'Results', 'RunError', 'Summary', 'Trace', 'command',
           'compile', 'load', 'summary', 'trace']

_tessera.raise_as(RunError)


def compile(program, *kernels, define=None, include=(), options=()):
    """Compiles a program and loads it. Nothing is compiled twice: the command has a cache.

    kernels   C++ files; none: those beside the program, when it imports something
    define    {'N': 100}, as -D N=100
    include   folders, as -I
    options   others of `tessera build`: ['--cxxflags', '-O3']
    """
    words = [program, *kernels, *options]
    for name, value in (define or {}).items():
        words += ['-D', f'{name}={value}']
    for folder in include:
        words += ['-I', folder]
    # A library is looked for by its file: each has a folder of its own, which may go as soon as it is loaded.
    with tempfile.TemporaryDirectory(prefix='tessera-python-') as folder:
        library = os.path.join(folder, 'libprogram.so')
        exit_code, text = ask('build', '--library', '-o', library, *words)
        if exit_code != 0:
            raise CompileError(text, exit_code)
        if text:
            warnings.warn(text, CompileWarning, stacklevel=2)
        return Program(_tessera.Program(library), os.fspath(program))


def load(library):
    """Loads what `tessera build --library` made."""
    return Program(_tessera.Program(os.path.abspath(library)), os.fspath(library))


class Program:
    """A compiled program."""

    def __init__(self, program, name):
        self._program, self.name = program, name

    def __repr__(self):
        return f'<tessera.Program {self.name}>'

    def run(self, *arguments, ranks=1, threads=0, balancer='', options='', quiet=True, communicator=None,
            results_everywhere=False):
        """Runs it to its end. The arguments are those of `main` without its names, which are the results.

        ranks          in this process; threads: of each, 0 shares the cores of the host
        options        others of `tessera run`: '--record run.trace'
        communicator   of mpi4py: each of its ranks makes the same call; results are on rank 0, or everywhere
        """
        if communicator is not None and not isinstance(communicator, int):
            communicator = communicator.py2f()
        given = [_argument(k + 1, a) for k, a in enumerate(arguments)]
        sys.stdout.flush()  # kernels print past Python's buffer
        return Results(self._program.run(given, ranks, threads, balancer, options, quiet, communicator, results_everywhere))

    __call__ = run


def _argument(number, given):
    """What the module takes: int, float, str, contiguous memory, or a result of another run."""
    if isinstance(given, Block):
        return given
    if isinstance(given, (bool, numpy.bool_, int, numpy.integer)):
        given = int(given)
        if not -2**63 <= given < 2**63:
            raise TypeError(f'argument {number} is {given}, which has more than 64 bits')
        return given
    if isinstance(given, (float, numpy.floating)):
        return float(given)
    if isinstance(given, (str, bytes, bytearray)):
        return given
    if isinstance(given, (numpy.ndarray, memoryview)):
        given = numpy.ascontiguousarray(given)
        if given.dtype.hasobject:
            raise TypeError(f'argument {number} is an array of Python objects: arrays travel as bytes')
        return given.reshape(-1).view(numpy.uint8)
    raise TypeError(f'argument {number} is a {type(given).__name__}: programs take numbers, texts, bytes and NumPy '
                    'arrays; numpy.array(x, dtype=...) makes one of a list')


class Results:
    """What the names of `main` are: r['x'] is an int, a float, a str, or a Block (of bytes)."""

    def __init__(self, results):
        self._results = results

    def __getitem__(self, name):
        try:
            return self._results.value(name)
        except IndexError as e:
            raise KeyError(str(e)) from None

    def array(self, name, dtype=float, shape=-1):
        """The array that a name holds, as what it was written: array('x', numpy.int32, (n, -1)). Read only; not copied."""
        value = self[name]
        if not isinstance(value, Block):
            raise TypeError(f'`{name}` is no array but {value!r}')
        dtype = numpy.dtype(dtype)
        if len(value) % dtype.itemsize != 0:
            raise ValueError(f'`{name}` has {len(value)} bytes, which is no array of {dtype} ({dtype.itemsize} bytes each)')
        flat = numpy.frombuffer(value, dtype) if len(value) else numpy.empty(0, dtype)
        return flat.reshape(shape)

    def keys(self):
        return list(self._results.names)

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    @property
    def here(self):
        """False on a rank that has no results: another than 0, without results_everywhere."""
        return self._results.here

    @property
    def summary(self):
        """What `tessera run --summary` writes, as a Summary."""
        return Summary(self._results.summary)

    def __repr__(self):
        return f'<tessera.Results {" ".join(self.keys())}>'


Block = _tessera.Block
