"""slow_check.py TRACE TABLES DELAY_MS: a record of two hosts with a slow link, whose clocks are an hour apart, and a balancer, as tables of
`tessera export --format csv`: what it says of clocks, arrivals and moves is possible, and enough of it is there."""
import csv
import sys

trace, tables, delay = sys.argv[1], sys.argv[2], float(sys.argv[3]) * 1e6
wrong = []


def table(name):
    with open(f'{tables}/{name}.csv') as file:
        return list(csv.DictReader(file))


def check(right, what):
    if not right:
        wrong.append(what)


# rank NUMBER WORKERS SAME-HOST OFFSET ERROR HOST
ranks = [line.split() for line in open(trace) if line.startswith('rank ')]
offset, error = float(ranks[1][4]), float(ranks[1][5])
check(ranks[1][3] == 'other-host', 'rank 1 has the clock of rank 0')
check(abs(offset + 3600e9) <= error, f'the clock of rank 1 is {offset} ns off, and {error} are said: more than it is wrong by')
check(0 < error < 20 * delay, f'the clocks are known to {error} ns only')

runs = {}  # of a fragment, the first
for row in table('fragments'):
    runs.setdefault(row['fragment'], row)
arrivals = 0
for row in table('inputs'):
    maker, reader = runs.get(row['made_by']), runs[row['fragment']]
    if not row['arrived_ns'] or maker is None or maker['rank'] == row['rank']:
        continue
    arrivals += 1
    at, made = int(row['arrived_ns']), int(maker['start_ns'])
    check(at >= made + delay - error, f'a value came {at - made} ns after its maker had begun: the link takes {delay}, clocks agree to {error}')
    check(at <= int(reader['start_ns']), f'fragment {row["fragment"]} ran before its input came')
check(arrivals >= 20, f'{arrivals} arrivals only')

decisions = table('decisions')
moves = [row for row in table('moves') if row['by'] == 'balancer']
for move in moves:
    why = [d['why'] for d in decisions
           if (d['from'], d['to']) == (move['from'], move['to']) and d['fragments'] and int(d['at_ns']) <= int(move['at_ns']) + error]
    check(any(why), f'fragment {move["fragment"]} moved from {move["from"]} to {move["to"]}, and nobody says why')
check(len(moves) >= 20, f'{len(moves)} moves only')
print(f'offset {offset + 3600e9:.0f} ns, said {error:.0f}; {arrivals} arrivals, {len(moves)} moves')
sys.exit('\n'.join(wrong[:5]) if wrong else 0)
