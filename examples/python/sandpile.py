"""A pile of sand: NumPy makes it, a fragmented program lets it fall, pandas says what that took.

    PYTHONPATH=/opt/tessera/lib/python3/dist-packages python3 sandpile.py
"""
import pathlib
import sys

import numpy
import tessera

here = pathlib.Path(__file__).parent
sandpile = tessera.compile(here / 'sandpile.fa')

pile = numpy.zeros((40, 40), numpy.int32)
pile[20, 20] = 1000
r = sandpile.run(pile, pile.shape[1], 4, ranks=2, threads=1)
still = r.array('still', numpy.int32, pile.shape)
print('cells fell over', r['falls'], 'times;', numpy.count_nonzero(still), 'have grains, the highest', still.max())
print('grains', pile.sum(), '->', still.sum())

# What came out may go in again as it is, without a copy.
again = sandpile.run(r['still'], pile.shape[1], 3)
print('it lies still:', again['falls'] == 0)

# What goes wrong is an exception with the text that `tessera run` prints.
try:
    sandpile.run(pile, 'forty', 4)
except tessera.RunError as e:
    print(f'exit code {e.exit_code}: {str(e).rpartition("/")[2]}')

if 'pandas' in sys.argv:
    print(r.summary.groups[['label', 'count', 'mean_ns']].to_string(index=False))
