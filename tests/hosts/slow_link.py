#!/usr/bin/env python3
"""slow_link.py DELAY_MS MBIT PID...: a second network between the hosts of over_hosts.sh, slow and in user space (no kernel module is needed).

Each host, the network namespace of a process, gets a device lag0 with the address 10.79.0.N. What is sent arrives DELAY_MS later; each host
sends MBIT Mbit/s at most. Says `ready`, and goes on until it is ended. Exit code 77: not possible here.
"""
import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, TAP, NO_INFORMATION = 0x400454CA, 2, 0x1000


class Port:
    def __init__(self, number, pid):
        self.fd = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
        name = f'lag{os.getpid()}-{number}'[-15:]
        fcntl.ioctl(self.fd, TUNSETIFF, struct.pack('16sH', name.encode(), TAP | NO_INFORMATION))
        subprocess.run(['ip', 'link', 'set', name, 'netns', pid, 'name', 'lag0'], check=True)
        for words in (f'addr add 10.79.0.{number}/24 dev lag0', 'link set lag0 up'):
            subprocess.run(['nsenter', '-t', pid, '-n', 'ip', *words.split()], check=True)
        self.addresses = set()
        self.free_at = 0.0  # when what was sent has left

    def send(self, frame):
        try:
            os.write(self.fd, frame)
        except OSError:
            pass  # as a full queue does: TCP sends it again


def main():
    delay, rate = float(sys.argv[1]) / 1e3, float(sys.argv[2]) * 1e6 / 8
    try:
        ports = [Port(number + 1, pid) for number, pid in enumerate(sys.argv[3:])]
    except (OSError, subprocess.CalledProcessError) as error:
        print(f'skipped: {error}')
        return 77
    print('ready', flush=True)
    travels, sent = [], 0  # (when it arrives, so that those of one time stay in order, to whom, what)
    while True:
        wait = max(0.0, travels[0][0] - time.monotonic()) if travels else None
        for fd in select.select([port.fd for port in ports], [], [], wait)[0]:
            port = next(p for p in ports if p.fd == fd)
            frame = os.read(fd, 65536)
            port.addresses.add(frame[6:12])
            now = time.monotonic()
            port.free_at = max(port.free_at, now) + len(frame) / rate
            known = [p for p in ports if frame[:6] in p.addresses]
            for to in known or [p for p in ports if p is not port]:
                heapq.heappush(travels, (port.free_at + delay, sent, to, frame))
                sent += 1
        while travels and travels[0][0] <= time.monotonic():
            _, _, to, frame = heapq.heappop(travels)
            to.send(frame)


sys.exit(main())
