"""The `tessera` command, which compiles and reads what runs have written."""

import os
import pathlib
import shutil
import subprocess

from . import _tessera
from .errors import Error


def command():
    """Where it is: TESSERA_COMMAND, else the one installed with this module, else that of PATH."""
    given = os.environ.get('TESSERA_COMMAND')
    if given:
        return given
    for above in pathlib.Path(_tessera.__file__).resolve().parents:
        beside = above / 'bin' / 'tessera'
        if beside.is_file():
            return str(beside)
    found = shutil.which('tessera')
    if found is None:
        raise Error('the command `tessera` is neither beside this module nor in PATH; TESSERA_COMMAND may name it')
    return found


def ask(*words):
    """Its exit code and what it prints."""
    program = command()
    try:
        made = subprocess.run([program, *map(os.fspath, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors='replace')
    except OSError as e:
        raise Error(f'the command `tessera` does not start: {program}: {e.strerror}') from None
    return made.returncode, made.stdout.rstrip('\n')
