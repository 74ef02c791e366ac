# A trace of an application of LAMGAC: iterations, each of `units` rows (or cells, ...), that a master hands out and gathers.
#   work    ns of a unit on a processor of speed 1
#   fresh   bytes that the master sends for each unit of each iteration
#   kept    bytes of a unit that are sent where they are not yet
#   shared  bytes that all need in each iteration
#   before  bytes that each worker gets once, before the first iteration
#   result  bytes that come back of each unit
#   shares  units of each worker, ranks 1, 2, ...; empty: all are born on the master, for a balancer to deal
function line(rank, parent, group, weight, output, inputs) {
  printf "f %d %d %s %s %d %d%s\n", ++id, group, rank, parent, weight, output, inputs
  return id
}
BEGIN {
  print "tessera-trace 1\nprogram - lamgac\ngroup 0 stealable : unit at lamgac:1\ngroup 1 : master at lamgac:2\ngroup 2 : rows at lamgac:3"
  workers = split(shares, share, ",")
  at = 0
  for (w = 1; w <= workers; ++w) for (i = 0; i < share[w]; ++i) of[at++] = w
  start = line(0, "-", 1, 1000, before > 0 ? before : 8, "")
  ready = " " start ":8"
  if (before > 0) for (w = 1; w <= (workers > 0 ? workers : 4); ++w) ready = ready " " line(w, "-", 2, 1000, 8, " " start ":" before) ":8"
  if (kept > 0) for (i = 0; i < units; ++i) row[i] = line(0, "-", 2, 1000, kept, "")
  for (t = 0; t < iterations; ++t) {
    master = line(0, "-", 1, 1000, shared > 0 ? shared : 8, ready)
    for (w = 1; w <= workers && fresh > 0; ++w) if (share[w] > 0) part[w] = line(0, master, 2, 1000, fresh * share[w], " " master ":8")
    ready = ""
    for (i = 0; i < units; ++i) {
      w = workers > 0 ? of[i] : 0
      inputs = " " master ":" (shared > 0 ? shared : 8)
      if (fresh > 0) inputs = inputs (w > 0 ? " " part[w] ":" fresh * share[w] : " -:" fresh)
      if (kept > 0) inputs = inputs " " row[i] ":" kept
      ready = ready " " line(w > 0 ? w : 0, master, 0, work, result, inputs) ":" result
    }
  }
  line(0, "-", 1, 1000, 8, ready)
  print "end " id
}
