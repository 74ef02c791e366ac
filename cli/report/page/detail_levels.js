'use strict';
// Levels of detail of a lane: for bins of time, how much of each was covered by kernels that are shown, and the one that
// covered most. The finest has up to 65536 bins; each next one half as many. A timeline draws bins while they are as
// narrow as a pixel, and single items when it is so close that there are few.
class Levels {
  constructor(lane, end) {
    const run = lane.run, size = lane.last - lane.first;
    let bins = 64;
    while (bins < 65536 && bins < 4 * size) bins *= 2;
    const cover = new Float32Array(bins), best = new Float32Array(bins), what = new Uint16Array(bins);
    const per = bins / Math.max(1, Math.ceil(end / run.tick));
    const shown = run.group_of.map((g) => run.groups[g].shown);
    for (let i = lane.first; i < lane.last; ++i) {
      const b = run._block[i];
      if (!shown[b]) continue;
      let from = run._start[i] * per;
      const to = Math.min(bins, (run._start[i] + run._length[i]) * per);
      // What lies inside another item is covered already.
      for (let k = Math.floor(from); from < to; ++k) {
        const part = Math.min(to, k + 1) - from;
        cover[k] = Math.min(1, cover[k] + part);
        if (part > best[k]) best[k] = part, what[k] = b;
        from = k + 1;
      }
    }
    this.levels = [{bins, cover, what}];
    for (let b = bins; b > 64; b /= 2) {
      const fine = this.levels[this.levels.length - 1], half = b / 2;
      const c = new Float32Array(half), w = new Uint16Array(half);
      for (let k = 0; k < half; ++k) {
        const x = fine.cover[2 * k], y = fine.cover[2 * k + 1];
        c[k] = (x + y) / 2;
        w[k] = x >= y ? fine.what[2 * k] : fine.what[2 * k + 1];
      }
      this.levels.push({bins: half, cover: c, what: w});
    }
    this.end = end;
  }
  // The coarsest whose bins are no wider than `ns`; null: even the finest are wider.
  for_width(ns) {
    let found = null;
    for (const l of this.levels) {
      if (this.end / l.bins > ns) break;
      found = l;
    }
    return found;
  }
}
