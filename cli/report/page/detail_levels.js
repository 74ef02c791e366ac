'use strict';
// Levels of detail of a lane: for bins of time, how much of each was covered by items that are shown, and the kind that
// covered most. The finest has up to 131072 bins; each next one half as many. A timeline draws bins while they are as
// narrow as a pixel, and single items when it is so close that there are few.
// Items: those from `first` to `last` of the columns start and length, of kinds `what`; `shown` by kind.
class Levels {
  constructor(run, first, last, {start, length, what}, shown) {
    let bins = 64;
    while (bins < 131072 && bins < 4 * (last - first)) bins *= 2;
    const cover = new Float32Array(bins), best = new Float32Array(bins), most = new Uint16Array(bins);
    const per = bins / Math.max(1, Math.ceil(run.span / run.tick));
    for (let i = first; i < last; ++i) {
      const b = what[i];
      if (!shown[b]) continue;
      let from = start[i] * per;
      const to = Math.min(bins, (start[i] + length[i]) * per);
      // What lies inside another item is covered already.
      for (let k = Math.floor(from); from < to; ++k) {
        const part = Math.min(to, k + 1) - from;
        cover[k] = Math.min(1, cover[k] + part);
        if (part > best[k]) best[k] = part, most[k] = b;
        from = k + 1;
      }
    }
    this.levels = [{bins, cover, what: most}];
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
    this.span = run.span;
  }
  // The coarsest whose bins are no wider than `ns`; null: even the finest are wider.
  for_width(ns) {
    let found = null;
    for (const l of this.levels) {
      if (this.span / l.bins > ns) break;
      found = l;
    }
    return found;
  }
}
