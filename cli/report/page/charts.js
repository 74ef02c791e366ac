'use strict';
// Charts over time, on the time axis of the timeline.
function prepare(canvas, height, timeline) {
  const dpr = window.devicePixelRatio || 1, width = timeline.width;
  // A canvas that gets a size is laid out, and made anew: only when it is another one.
  if (canvas.high !== height) canvas.high = height, canvas.style.height = height + 'px';
  const w = Math.round(canvas.wide * dpr), h = Math.round(height * dpr);
  if (canvas.width !== w || canvas.height !== h) canvas.width = w, canvas.height = h;
  const g = canvas.getContext('2d');
  g.setTransform(dpr, 0, 0, dpr, 0, 0);
  g.font = '12px system-ui, "DejaVu Sans", sans-serif';
  g.textBaseline = 'middle';
  g.fillStyle = css('--paper');
  g.fillRect(0, 0, width, height);
  return g;
}
const kBins = 400;  // cli/report/run_charts.cpp
// The bins that are seen: f(bin, left, right).
function each_bin(run, timeline, f) {
  const bins = kBins, wide = run.span / bins;
  const first = Math.max(0, Math.floor((timeline.t0 - run.from) / wide)), last = Math.min(bins - 1, Math.floor((timeline.t1 - run.from) / wide));
  for (let b = first; b <= last; ++b) {
    const x0 = Math.max(kGutter, timeline.x(run.from + b * wide)), x1 = Math.min(timeline.width, timeline.x(run.from + (b + 1) * wide));
    if (x1 > x0) f(b, x0, x1);
  }
}
// A picture of all bins, painted once for each theme: paint(g, high), one unit for each bin. Drawn as far as it is seen.
function draw_bins(g, timeline, run, name, top, high, paint) {
  const key = name + is_dark() + high;
  run.pictures ||= new Map();
  if (!run.pictures.has(key)) {
    const canvas = make('canvas', {}), dpr = window.devicePixelRatio || 1;
    canvas.width = kBins, canvas.height = Math.max(1, Math.round(high * dpr));
    const p = canvas.getContext('2d');
    p.scale(1, canvas.height / high);
    paint(p, high);
    run.pictures.set(key, canvas);
  }
  const picture = run.pictures.get(key), x0 = timeline.x(run.from), x1 = timeline.x(run.finished);
  g.save(), g.beginPath(), g.rect(kGutter, top, timeline.width - kGutter, high), g.clip();
  g.imageSmoothingEnabled = false;
  g.drawImage(picture, x0, top, x1 - x0, high);
  g.restore();
}

const kDoingOrder = [0, 1, 2, 3, 4, 5, 6, 7];
function draw_doing(timeline) {
  const runs = timeline.runs, each = runs.length > 1 ? 110 : 150, g = prepare(by_id('doing'), each * runs.length, timeline);
  runs.forEach((run, n) => {
    const top = n * each + 8, high = each - 14, workers = run.lanes.length, wide = run.span / kBins;
    draw_bins(g, timeline, run, 'doing', top, high, (p) => {
      for (let b = 0; b < kBins; ++b) {
        let y = high;
        for (const d of kDoingOrder) {
          const h = run.column.doing[d * kBins + b] * run.tick / (wide * workers) * high;
          if (h <= 0) continue;
          p.fillStyle = doing_colour(d);
          p.fillRect(b, y - h, 1, h + 0.3);
          y -= h;
        }
      }
    });
    g.fillStyle = css('--faint');
    g.fillText('100 %', 6, top + 6), g.fillText('0 %', 6, top + high - 5);
    if (runs.length > 1) g.fillText(run.name, 6, top + high / 2);
  });
}

function busy_of(run, rank, bin) { return run.column.busy[rank * kBins + bin] * run.tick; }
function imbalance(run, b) {
  let most = 0, sum = 0, n = 0;
  run.ranks.forEach((r, k) => { if (r.workers) { const busy = busy_of(run, k, b) / r.workers; most = Math.max(most, busy), sum += busy, ++n; } });
  return sum > 0 ? most / (sum / n) : null;
}

function draw_balance(timeline) {
  const runs = timeline.runs;
  const heights = runs.map((run) => 96 + Math.max(24, Math.min(220, 14 * run.ranks.length)));
  const g = prepare(by_id('balance'), heights.reduce((a, b) => a + b, 0), timeline);
  let top = 0;
  runs.forEach((run, n) => {
    run.imbalance ||= Array.from({length: kBins}, (_, b) => imbalance(run, b));
    run.top = top;
    const most = Math.max(1.5, ...run.imbalance.map((v) => v || 1)), y_of = (v) => top + 78 - (v - 1) / (most - 1) * 50;
    // Decisions: above; what moved something is full.
    run.moving ||= run.reasons.map((why) => /moved|given|stolen/.test(why));
    const last = {true: -1, false: -1};
    for (const d of run.decisions) {
      const x = timeline.x(d[0]), moved = d[6].length > 0 || run.moving[d[7]];
      if (x < kGutter || x > timeline.width || x - last[moved] < 0.5) continue;
      last[moved] = x;
      g.fillStyle = moved ? css('--mark') : css('--faint');
      g.globalAlpha = moved ? 0.9 : 0.35;
      g.fillRect(x - 0.7, top + 6, 1.4, moved ? 14 : 7);
    }
    g.globalAlpha = 1;
    g.strokeStyle = css('--accent'), g.lineWidth = 1.6, g.beginPath();
    let pen = false;
    each_bin(run, timeline, (b, x0, x1) => {
      const v = run.imbalance[b];
      if (v === null) { pen = false; return; }
      if (pen) g.lineTo(x0, y_of(v)); else g.moveTo(x0, y_of(v));
      g.lineTo(x1, y_of(v)), pen = true;
    });
    g.stroke();
    g.fillStyle = css('--faint');
    g.fillText(most.toFixed(1) + ' x mean', 6, y_of(most)), g.fillText('1.0', 6, y_of(1));
    g.fillText('decisions', 6, top + 12);
    const high = (heights[n] - 96) / run.ranks.length, wide = run.span / kBins;
    const paper = is_dark() ? '#1d2126' : '#f0f3f6', full = is_dark() ? '#6fb1ff' : '#08519c';
    draw_bins(g, timeline, run, 'busy', top + 88, high * run.ranks.length, (p) => run.ranks.forEach((r, k) => {
      for (let b = 0; b < kBins; ++b) {
        p.fillStyle = mix_colour(paper, full, r.workers ? Math.min(1, busy_of(run, k, b) / (wide * r.workers)) : 0);
        p.fillRect(b, k * high, 1, high - (high > 5 ? 1 : 0));
      }
    }));
    run.ranks.forEach((r, k) => {
      const y = top + 88 + k * high;
      if (high >= 11 || k % Math.ceil(13 / high) === 0) g.fillStyle = css('--faint'), g.fillText('rank ' + k, 6, y + high / 2);
    });
    top += heights[n];
  });
}

// Those that are drawn near that point of the chart.
function decisions_near(timeline, x, y) {
  return timeline.runs.flatMap((run) => y < run.top || y >= run.top + 90 ? [] : run.decisions.filter((d) => Math.abs(timeline.x(d[0]) - x) < 4).map((d) => ({run, d})));
}

function decision_text(run, d) {
  const [at, rank, from, to, load_from, load_to, what, reason] = d, why = run.reasons[reason];
  const count = what.map(([g, n]) => n + ' of ' + (run.groups[g] ? run.groups[g].name : '?')).join(', ');
  const ends = from >= 0 ? ' ' + from + (to >= 0 ? ' → ' + to : '') : '';
  const loads = load_from > 0 || load_to > 0 ? '; ' + [[from, load_from], [to, load_to]].filter(([r, l]) => r >= 0 && l > 0).map(([r, l]) => 'rank ' + r + ' had ' + duration(l)).join(', ') : '';
  return moment(at) + ', rank ' + rank + ': ' + why + (count ? ': ' + count : '') + ends + loads;
}

// In kB. Of many ranks only the one that had most, and the mean.
function draw_memory(timeline) {
  const runs = timeline.runs, each = 140, g = prepare(by_id('memory'), each * runs.length, timeline);
  runs.forEach((run, n) => {
    const top = n * each + 12, high = each - 26, c = run.column;
    const most = run.most_memory ||= c.process.reduce((a, kb) => Math.max(a, kb), 1);
    const line = (at, dash, colour) => {
      g.strokeStyle = colour, g.setLineDash(dash), g.lineWidth = 1.5, g.beginPath();
      let pen = false;
      each_bin(run, timeline, (b, x0, x1) => {
        const kb = at(b);
        if (!kb) return;
        const y = top + high * (1 - kb / most), x = (x0 + x1) / 2;
        if (pen) g.lineTo(x, y); else g.moveTo(x, y);
        pen = true;
      });
      g.stroke(), g.setLineDash([]);
    };
    memory_lines(run).forEach(({ranks, colour}) => {
      const of = (list) => (b) => ranks.reduce((x, r) => Math.max(x, list[r * kBins + b]), 0);
      line(of(c.process), [], colour), line(of(c.data), [3, 3], colour);
    });
    g.fillStyle = css('--faint');
    g.fillText(size_text(most * 1000), 6, top + 4), g.fillText('0', 6, top + high);
    if (runs.length > 1) g.fillText(run.name, 6, top + high / 2);
  });
}
// More than eight ranks are put together: colours of more nobody could tell apart.
function memory_lines(run) {
  const per = Math.ceil(run.ranks.length / 8), lines = [];
  for (let r = 0; r < run.ranks.length; r += per) {
    const ranks = Array.from({length: Math.min(per, run.ranks.length - r)}, (_, k) => r + k), last = ranks[ranks.length - 1];
    lines.push({ranks, colour: nth_colour(lines.length), name: ranks.length > 1 ? 'most of ranks ' + r + ' to ' + last : 'rank ' + r});
  }
  return lines;
}
function memory_keys(run) {
  return make('div', {class: 'keys'}, ...memory_lines(run).map((l) => make('span', {}, make('i', {class: 'swatch', style: 'background:' + l.colour}), l.name)),
    make('span', {}, 'full: the process; dashed: its data fragments, about'));
}
