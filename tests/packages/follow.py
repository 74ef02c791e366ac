#!/usr/bin/python3
"""follow.py PAGE: follows a page like docs/tutorial.md literally, in an empty folder: writes its files, runs its commands one after the other, and
compares what they print with what stands below them, in any order; of stderr, what is shown. As tests/cli/tutorial_test.cpp does with what was
built, this does with what is installed."""
import os
import re
import subprocess
import sys
import tempfile

page = open(sys.argv[1], encoding='utf-8').read().split('\n')
steps, at, file = [], None, None  # (line, file or None, command or None, lines)
for number, line in enumerate(page, 1):
    if line.startswith('```'):
        if at:
            at = None
        elif file:
            at = 'file'
            steps.append((number, file, None, []))
            file = None
        else:
            at = 'console' if line == '```console' else 'other'
    elif at == 'console' and line.startswith('$ '):
        steps.append((number, None, line[2:], []))
    elif at in ('file', 'console'):
        steps[-1][3].append(line)
    elif found := re.match(r'<!-- file: (\S+) -->', line):
        file = found[1]

os.chdir(tempfile.mkdtemp())
ran = 0
for number, file, command, lines in steps:
    if file:
        with open(file, 'w', encoding='utf-8') as out:
            out.write('\n'.join(lines) + '\n')
        continue
    done = subprocess.run(['sh', '-c', command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said, errors = done.stdout.split('\n')[:-1], done.stderr.split('\n')
    shown = sorted(line for line in lines if line in said)
    missing = [line for line in lines if line not in said and line not in errors]
    if done.returncode != 0 or missing or shown != sorted(said):
        sys.exit(f'{sys.argv[1]}:{number}: $ {command}\nexit code {done.returncode}, nobody prints {missing}\n{done.stdout}{done.stderr}')
    ran += 1
if ran < 16:
    sys.exit(f'only {ran} commands')
print(f'{ran} commands do what {sys.argv[1]} says')
