"""Summaries and traces as data frames of pandas, which is imported when one is asked for."""

import json
import os
import pathlib
import tempfile

from .commands import ask
from .errors import Error

TABLES = ('fragments', 'inputs', 'workers', 'messages', 'moves', 'decisions', 'memory')


class Summary(dict):
    """The keys are those of the file: s['efficiency'], s['seconds']."""

    def __init__(self, text):
        super().__init__(json.loads(text) if text else {})

    @property
    def ranks(self):
        """A row for each rank."""
        return _frame(self, 'ranks', index='rank')

    @property
    def groups(self):
        """A row for each group of fragments."""
        return _frame(self, 'groups')


def _frame(whole, key, index=None):
    import pandas
    frame = pandas.DataFrame(whole.get(key, []))
    frame.index.name = index
    return frame


def summary(file):
    """Reads what `tessera run --summary FILE` wrote."""
    with open(file, encoding='utf-8') as f:
        text = f.read()
    try:
        s = Summary(text)
    except ValueError as e:
        raise Error(f'{os.fspath(file)} is no summary: {e}') from None
    if not str(s.get('format', '')).startswith('tessera-summary-'):
        raise Error(f'{os.fspath(file)} is no summary: `tessera run --summary FILE` writes them')
    return s


class Trace:
    """A recorded run: t.fragments, t.inputs, t.workers, t.messages, t.moves, t.decisions, t.memory; times in ns."""

    def __init__(self, folder):
        self._folder = folder  # goes with this object

    def __getattr__(self, name):
        if name not in TABLES:
            raise AttributeError(f'a trace has no table {name!r}, but {", ".join(TABLES)}')
        import pandas
        frame = pandas.read_csv(pathlib.Path(self._folder.name) / f'{name}.csv')
        setattr(self, name, frame)  # read once
        return frame


def trace(file):
    """Reads what `tessera run --record FILE` wrote."""
    folder = tempfile.TemporaryDirectory(prefix='tessera-trace-')
    try:
        exit_code, text = ask('export', file, '-f', 'csv', '-o', folder.name)
        if exit_code != 0:
            raise Error(text)
    except Error:
        folder.cleanup()
        raise
    return Trace(folder)
