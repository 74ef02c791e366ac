#!/usr/bin/python3
"""apptainer_recipe.py ROOT: reads packaging/tessera.def as Apptainer would: its header, sections and scripts; and that it installs what
packaging/Containerfile does. Apptainer itself is not in Debian 12."""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
text = (root / 'packaging/tessera.def').read_text()
wrong = []
KNOWN = {'setup', 'files', 'post', 'environment', 'runscript', 'startscript', 'test', 'labels', 'help'}
SCRIPTS = KNOWN - {'files', 'labels', 'help'}

head, *rest = re.split(r'^%', text, flags=re.MULTILINE)
header = dict(line.split(': ', 1) for line in head.splitlines() if line and not line.startswith('#'))
if set(header) != {'Bootstrap', 'From'}:
    wrong.append(f'the header has {sorted(header)}')
sections = {}
for section in rest:
    name, _, body = section.partition('\n')
    if name in sections:
        wrong.append(f'%{name} comes twice')
    sections[name] = body
wrong += [f'%{name} is no section' for name in set(sections) - KNOWN]
for name in set(sections) & SCRIPTS:
    checked = subprocess.run(['sh', '-n'], input=sections[name], text=True, capture_output=True)
    if checked.returncode != 0:
        wrong.append(f'%{name}: {checked.stderr.strip()}')


def installed(script):
    words = re.sub(r'\\\n', ' ', script)
    return {w for line in re.findall(r'apt-get install ([^&\n]*)', words) for w in line.split() if not w.startswith('-')}


here, there = installed(sections.get('post', '')), installed((root / 'packaging/Containerfile').read_text())
if here != there or not here:
    wrong.append(f'it installs {sorted(here - there)}, and the Containerfile {sorted(there - here)} besides')
print('\n'.join(wrong) or f'all right: {len(sections)} sections, {len(here)} packages')
sys.exit(1 if wrong else 0)
