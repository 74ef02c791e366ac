// A record whose every number is known, of two ranks with a worker each:
//
//     rank 0: main, work(1), then idle until what work(2) makes has come, work(3)
//     rank 1: idle until work(2) is moved to it, 400 us after it was made; work(2)
#pragma once

namespace tessera::tests {

inline constexpr const char* kSmallTrace = R"(tessera-trace 1
program - small.fa
group 0 stack : main at small.fa:2
group 1 stealable : work at small.fa:3
f 0 0 - - 100000 0
f 1 1 - 0 2000000 8
f 2 1 - 0 3000000 8
f 3 1 - 0 2000000 8 2:8
run 6105000 live steal
rank 0 1 same-host 0 0 here
rank 1 1 same-host 0 0 here
block 0 0 - 2 : 8 in small.fa sub main
block 1 1 kernel 3 i : 8 in small.fa work(i, x[i])
slot out 1 x
source small.fa
| C++ sub work(int i, name x) ${{ $}}
| sub main() { df x; // </script><!--<script>
|   for i = 1..3 work(i, x[i]) @ { stealable; };
| }
t 0 0 0 0 100000 0
t 1 0 0 100000 2000000 1 1 1
t 2 1 0 510000 3000000 1 2 2
t 3 0 0 4005000 2000000 1 3 3 @0:4000000
moved 2 500000 0 1 policy
m 500000 0 1 Ship 200 1
m 4000000 1 0 Give 60 0
d 400000 1 0 1 7000000 0 1:1 : stolen
mem 1000000 0 20000000 24
mem 1000000 1 10000000 8
end 4
)";

}  // namespace tessera::tests
