'use strict';
// The timeline: workers from top to bottom, time from left to right. Draws once a frame, when something has changed.
const kGutter = 96, kAxis = 22;

class Timeline {
  constructor(runs, changed) {
    this.runs = runs;
    this.changed = changed;  // the view or the selection has
    this.canvas = by_id('bars');
    this.frame = by_id('frame');
    this.tip = by_id('tip');
    this.begin = Math.min(...runs.map((r) => r.from)), this.end = Math.max(...runs.map((r) => r.finished));
    this.t0 = this.begin, this.t1 = this.end;
    this.selected = null, this.show_path = false;
    this.matches = null, this.match = -1;
    this.frames = [];  // how long the last ones took, ms
    this.refresh_levels();
    this.listen();
    this.resize();
  }

  refresh_levels() {
    for (const run of this.runs) {
      const shown = run.group_of.map((g) => run.groups[g].shown), c = run.column;
      for (const lane of run.lanes) {
        lane.levels = new Levels(run, lane.first, lane.last, {start: run._start, length: run._length, what: run._block}, shown);
        lane.span_levels ||= new Levels(run, lane.span, lane.span_last, {start: c.span_start, length: c.span_length, what: c.span_doing}, run.doings.map(() => true));
      }
    }
    this.redraw();
  }

  resize() {
    const lanes = this.runs.reduce((n, r) => n + r.lanes.length, 0);
    // A canvas has an end: browsers refuse those of more than 16,384 pixels.
    this.height = Math.max(Math.min(5, 15000 / lanes), Math.min(34, Math.floor(460 / lanes)));
    this.rows = [];
    let y = kAxis;
    for (const run of this.runs) {
      if (this.runs.length > 1) this.rows.push({run, y, height: 20}), y += 20;
      for (const lane of run.lanes) lane.y = y, this.rows.push({run, lane, y, height: this.height}), y += this.height + (this.height > 9 ? 2 : 0);
      y += 6;
    }
    this.width = this.frame.clientWidth;
    this.full = y;
    const dpr = this.dpr = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * dpr);
    this.canvas.height = Math.round(y * dpr);
    this.canvas.style.height = y + 'px';
    for (const id of ['doing', 'balance', 'memory']) by_id(id).wide = by_id(id).clientWidth;
    this.redraw();
  }

  x(t) { return kGutter + (t - this.t0) / (this.t1 - this.t0) * (this.width - kGutter); }
  t(x) { return this.t0 + (x - kGutter) / (this.width - kGutter) * (this.t1 - this.t0); }

  show(t0, t1) {
    const all = this.end - this.begin, span = Math.min(all * 1.02, Math.max(200, t1 - t0));
    t0 = Math.max(this.begin - 0.01 * all, Math.min(t0, this.end + 0.01 * all - span));
    this.t0 = t0, this.t1 = t0 + span;
    this.redraw();
    this.changed('view');
  }
  zoom(factor, at = (this.t0 + this.t1) / 2) { this.show(at - (at - this.t0) * factor, at + (this.t1 - at) * factor); }
  pan(share) { const d = share * (this.t1 - this.t0); this.show(this.t0 + d, this.t1 + d); }
  go_to(run, item) {
    const span = Math.max(run.length_of(item) * 8, 2000), middle = run.start(item) + run.length_of(item) / 2;
    this.show(middle - span / 2, middle + span / 2);
    const y = run.lanes[run.lane[item]].y;
    if (y < this.frame.scrollTop || y > this.frame.scrollTop + this.frame.clientHeight) this.frame.scrollTop = y - 60;
  }
  select(run, item) {
    this.selected = run ? {run, item} : null;
    this.redraw();
    this.changed('selection');
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const before = performance.now();
      this.draw(), draw_charts(this);
      this.frames.push(performance.now() - before);
      if (this.frames.length > 600) this.frames.shift();
    });
  }

  draw() {
    const g = this.g = this.canvas.getContext('2d');
    g.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
    g.fillStyle = css('--paper');
    g.fillRect(0, 0, this.width, this.full);
    g.font = '12px system-ui, "DejaVu Sans", sans-serif';
    this.draw_axis(g);
    const top = this.frame.scrollTop - 40, bottom = this.frame.scrollTop + Math.max(this.frame.clientHeight, 200) + 40;
    g.save();
    g.beginPath(), g.rect(kGutter, 0, this.width - kGutter, this.full), g.clip();
    for (const row of this.rows) {
      if (!row.lane || row.y + row.height < top || row.y > bottom) continue;
      this.draw_spans(g, row.lane);
      this.draw_items(g, row.lane);
    }
    if (this.show_path) for (const run of this.runs) this.draw_path(g, run);
    if (this.selected) this.draw_arrows(g);
    g.restore();
    this.draw_labels(g);
  }

  draw_axis(g) {
    const step = nice_step((this.t1 - this.t0) * 110 / (this.width - kGutter));
    g.textBaseline = 'middle';
    for (let t = Math.max(this.begin, Math.ceil(this.t0 / step) * step); t <= this.t1; t += step) {
      const x = this.x(t);
      g.fillStyle = css('--line');
      g.fillRect(x, kAxis - 4, 1, this.full);
      g.fillStyle = css('--faint');
      g.fillText(axis_text(t, step), x + 3, 9);
    }
  }

  draw_labels(g) {
    g.fillStyle = css('--paper');
    g.fillRect(0, kAxis, kGutter, this.full);
    g.textBaseline = 'middle';
    const every = Math.max(1, Math.ceil(13 / (this.height + 1)));
    let n = 0;
    for (const row of this.rows) {
      if (!row.lane) {
        g.fillStyle = css('--ink');
        g.fillText(row.run.name, 4, row.y + 11);
        n = 0;
        continue;
      }
      if (n++ % every) continue;
      g.fillStyle = css('--faint');
      const several = row.run.ranks[row.lane.rank].workers > 1;
      g.fillText('rank ' + row.lane.rank + (several ? ' . ' + row.lane.worker : ''), 6, row.y + row.height / 2);
    }
  }

  // The items of a lane that may be seen.
  seen(lane) {
    const run = lane.run, from = Math.max(0, (this.t0 - run.from) / run.tick), to = Math.max(0, (this.t1 - run.from) / run.tick);
    let a = 0, b = lane.ends.length;
    while (a < b) { const m = a + b >> 1; if (lane.ends[m] < from) a = m + 1; else b = m; }
    let c = lane.first + a, d = lane.last;
    while (c < d) { const m = c + d >> 1; if (run._start[m] <= to) c = m + 1; else d = m; }
    return [lane.first + a, c];
  }

  draw_spans(g, lane) {
    const run = lane.run, c = run.column, h = Math.max(2, Math.round(this.height * 0.3)), y = lane.y + this.height - h, pixels = this.width - kGutter;
    // They do not overlap: those that end before the first one that is seen begin before it, too.
    let first = lane.span, to = lane.span_last;
    while (first < to) { const m = first + to >> 1; if (run.time(c.span_start[m] + c.span_length[m]) < this.t0) first = m + 1; else to = m; }
    const many = run.time(c.span_start[Math.min(lane.span_last - 1, first + 2 * pixels)]) < this.t1 && first + 2 * pixels < lane.span_last;
    const level = many ? lane.span_levels.for_width((this.t1 - this.t0) / pixels) : null;
    if (level) return this.draw_level(g, run, level, y, h, doing_colour, 0.5);
    let last = -1, colour = -1;
    for (let k = first; k < lane.span_last; ++k) {
      const start = run.time(c.span_start[k]), end = start + c.span_length[k] * run.tick;
      if (end < this.t0) continue;
      if (start > this.t1) break;
      const x0 = Math.max(kGutter, this.x(start)), x1 = this.x(end);
      if (x1 - last < 0.5) continue;
      if (colour !== c.span_doing[k]) g.fillStyle = doing_colour(colour = c.span_doing[k]);
      g.fillRect(x0, y, Math.max(0.5, x1 - x0), h);
      last = x1;
    }
  }

  draw_items(g, lane) {
    const run = lane.run, [first, last] = this.seen(lane), pixels = this.width - kGutter;
    const pale = this.matches !== null;
    if (pale) g.globalAlpha = 0.22;
    const level = last - first > 2 * pixels ? lane.levels.for_width((this.t1 - this.t0) / pixels) : null;
    if (level) this.draw_level(g, run, level, lane.y, this.height, (b) => run.groups[run.group_of[b]].colour); else this.draw_each(g, lane, first, last);
    g.globalAlpha = 1;
    if (pale) this.draw_matches(g, lane);
  }

  // Bins as high as they are covered; or, from the share `full` on, all alike.
  draw_level(g, run, level, y, h, colour_of, full) {
    const per = level.bins / run.span;
    let colour = null, from = kGutter, was = 0;
    const flush = (x) => { if (colour !== null && was > 0) g.fillStyle = colour, g.fillRect(from, y + h - was, x - from, was); };
    for (let x = kGutter; x < this.width; ++x) {
      const k = Math.floor((this.t(x + 0.5) - run.from) * per);
      const cover = k < 0 || k >= level.bins ? 0 : level.cover[k];
      const now = full ? (cover >= full ? h : 0) : cover === 0 ? 0 : Math.max(1, Math.round(cover * h));
      const next = now === 0 ? null : colour_of(level.what[k]);
      if (next === colour && now === was) continue;
      flush(x);
      colour = next, was = now, from = x;
    }
    flush(this.width);
  }

  draw_each(g, lane, first, last) {
    const run = lane.run, h = this.height;
    let right = -1, colour = null;
    for (let i = first; i < last; ++i) {
      const group = run.groups[run.group_of[run._block[i]]];
      if (!group.shown) continue;
      const x0 = Math.max(kGutter - 2, this.x(run.start(i))), x1 = Math.min(this.width + 2, this.x(run.end(i)));
      if (x1 < kGutter || x1 - right < 0.25) continue;
      if (colour !== group.colour) g.fillStyle = colour = group.colour;
      // Neighbours of one colour are told apart, where there is room.
      const w = Math.max(0.7, x1 - x0 > 3 ? x1 - x0 - 0.6 : x1 - x0);
      g.fillRect(x0, lane.y, w, h);
      right = x1;
      if (w > 34 && h >= 11) {
        g.fillStyle = ink_on(group.colour), colour = null;
        const text = fit(g, run.label(i), group.name, w - 6);
        if (text) g.fillText(text, x0 + 3, lane.y + h / 2 + 0.5);
      }
    }
  }

  draw_matches(g, lane) {
    const run = lane.run, all = this.matches.get(run);
    let k = lower(all, lane.first), right = -1;
    for (; k < all.length && all[k] < lane.last; ++k) {
      const i = all[k], x0 = this.x(run.start(i)), x1 = Math.max(x0 + 1.5, this.x(run.end(i)));
      if (x1 < kGutter || x0 > this.width || x1 - right < 0.5) continue;
      g.fillStyle = run.group(i).colour;
      g.fillRect(x0, lane.y, x1 - x0, this.height);
      right = x1;
    }
  }

  draw_path(g, run) {
    const c = run.column, colour = css('--mark');
    g.strokeStyle = g.fillStyle = colour;
    g.lineWidth = 1.2;
    let before = null, left = Infinity;
    for (let k = 0; k < c.path_start.length; ++k) {  // from the end on
      const start = run.time(c.path_start[k]), end = start + c.path_length[k] * run.tick;
      if (c.path_lane[k] === 0 || start > this.t1 || end < this.t0) { before = null; continue; }
      const y = run.lanes[c.path_lane[k] - 1].y, x0 = this.x(start), x1 = this.x(end), dense = left - x0 < 0.4;
      if (!dense && c.path_kind[k] === 0) g.fillRect(x0, y - 1, Math.max(1, x1 - x0), 3), g.fillRect(x0, y + this.height - 2, Math.max(1, x1 - x0), 3);
      if (!dense && c.path_kind[k] !== 0) g.fillRect(x0, y + this.height / 2 - 1, Math.max(1, x1 - x0), 2);
      if (before !== null && before !== y && !dense) g.fillRect(x1 - 0.6, Math.min(before, y) + this.height / 2, 1.2, Math.abs(before - y));
      if (!dense) left = x0;
      before = y;
    }
  }

  draw_arrows(g) {
    const {run, item} = this.selected;
    const lane_y = (i) => run.lanes[run.lane[i]].y + this.height / 2;
    const arrow = (from, to, at, colour) => {
      const [left, came] = run.arrow(from, to), x0 = this.x(left), y0 = lane_y(from), x1 = this.x(came), y1 = lane_y(to);
      const bend = Math.max(18, Math.min(120, Math.abs(x1 - x0) / 2)), lift = y0 === y1 ? -this.height - 8 : 0;
      g.strokeStyle = g.fillStyle = colour;
      g.lineWidth = 1.6;
      g.beginPath(), g.moveTo(x0, y0), g.bezierCurveTo(x0 + bend, y0 + lift, x1 - bend, y1 + lift, x1, y1), g.stroke();
      g.beginPath(), g.moveTo(x1 + 1, y1), g.lineTo(x1 - 7, y1 - 4), g.lineTo(x1 - 7, y1 + 4), g.fill();
      // When the value came there.
      if (at !== null) g.beginPath(), g.arc(this.x(at), y1, 3.2, 0, 7), g.fill();
    };
    for (const r of run.readers(item).slice(0, 200)) arrow(item, r, null, css('--faint'));
    for (const input of run.inputs(item)) if (input.item >= 0) arrow(input.item, item, input.came, css('--accent'));
    const x0 = this.x(run.start(item)), x1 = this.x(run.end(item)), y = run.lanes[run.lane[item]].y;
    g.strokeStyle = css('--ink');
    g.lineWidth = 2;
    g.strokeRect(x0 - 1, y - 1, Math.max(3, x1 - x0 + 2), this.height + 2);
  }

  // What is under the mouse: {run, item}, or {run, lane, span}, or null.
  under(x, y) {
    if (x < kGutter) return null;
    const row = this.rows.find((r) => r.lane && y >= r.y - 1 && y < r.y + r.height + 2);
    if (!row) return null;
    const lane = row.lane, run = lane.run, near = 3 * (this.t1 - this.t0) / (this.width - kGutter), t = this.t(x);
    const [first, last] = this.seen({...lane, ends: lane.ends, first: lane.first, last: lane.last});
    let c = first, d = last;
    while (c < d) { const m = c + d >> 1; if (run.start(m) <= t + near) c = m + 1; else d = m; }
    let found = -1, distance = near;
    for (let i = c - 1; i >= first && i > c - 5000; --i) {
      if (!run.group(i).shown) continue;
      if (run.start(i) <= t && run.end(i) >= t) return {run, item: i};
      const away = run.start(i) > t ? run.start(i) - t : t - run.end(i);
      if (away < distance) distance = away, found = i;
    }
    if (found >= 0) return {run, item: found};
    for (let k = lane.span; k < lane.span_last; ++k) {
      const start = run.time(run.column.span_start[k]), end = start + run.column.span_length[k] * run.tick;
      if (t >= start && t <= end) return {run, lane, doing: run.column.span_doing[k], start, end};
      if (start > t) break;
    }
    return null;
  }

  listen() {
    const c = this.canvas;
    let drag = null;
    const place = (e) => { const r = c.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    c.addEventListener('pointerdown', (e) => { drag = {x: e.clientX, t0: this.t0, t1: this.t1, moved: false}; c.setPointerCapture(e.pointerId); });
    c.addEventListener('pointermove', (e) => {
      const [x, y] = place(e);
      if (drag) {
        const d = e.clientX - drag.x;
        if (Math.abs(d) > 3) drag.moved = true;
        const by = d / (this.width - kGutter) * (drag.t1 - drag.t0);
        if (drag.moved) this.show(drag.t0 - by, drag.t1 - by), this.tip.hidden = true;
      } else {
        this.hover(x, y);
      }
    });
    c.addEventListener('pointerup', (e) => {
      const [x, y] = place(e);
      if (drag && !drag.moved) {
        const u = this.under(x, y);
        if (u && u.item !== undefined) this.select(u.run, u.item); else this.select(null);
      }
      drag = null;
    });
    c.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    c.addEventListener('dblclick', (e) => { const u = this.under(...place(e)); if (u && u.item !== undefined) this.go_to(u.run, u.item); });
    c.addEventListener('wheel', (e) => {
      const [x] = place(e);
      if (e.ctrlKey || e.metaKey) e.preventDefault(), this.zoom(Math.exp(e.deltaY * 0.0022), this.t(x));
      else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) e.preventDefault(), this.pan((e.deltaX || e.deltaY) / (this.width - kGutter));
    }, {passive: false});
    this.frame.addEventListener('scroll', () => this.redraw());
    window.addEventListener('resize', () => { this.resize(); this.changed('view'); });
    c.addEventListener('keydown', (e) => {
      const act = {ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), '+': () => this.zoom(0.7), '=': () => this.zoom(0.7), '-': () => this.zoom(1 / 0.7)}[e.key];
      if (act && !e.ctrlKey) e.preventDefault(), act();
    });
  }

  hover(x, y) {
    const u = this.under(x, y);
    this.tip.hidden = !u;
    if (!u) return;
    this.tip.replaceChildren(...(u.item !== undefined ? about_item(u.run, u.item, true) : about_span(u)));
    const wide = this.tip.offsetWidth, below = y - this.frame.scrollTop + 18;
    this.tip.style.left = Math.max(0, Math.min(x + 14, this.width - wide - 4)) + 'px';
    this.tip.style.top = below + 'px';
  }
}

function nice_step(least) {
  const power = Math.pow(10, Math.floor(Math.log10(least)));
  for (const f of [1, 2, 5, 10]) if (f * power >= least) return f * power;
  return 10 * power;
}
// All of an axis in one unit, with as many digits as tell its steps apart.
function axis_text(t, step) {
  const [unit, one] = t === 0 && step < 1e9 ? axis_unit(step) : axis_unit(Math.max(t, step));
  return (t / one).toFixed(Math.max(0, Math.min(6, -Math.floor(Math.log10(step / one) + 1e-9)))) + ' ' + unit;
}
function axis_unit(t) { return t >= 1e9 ? ['s', 1e9] : t >= 1e6 ? ['ms', 1e6] : t >= 1e3 ? ['µs', 1e3] : ['ns', 1]; }
function fit(g, text, shorter, room) {
  for (const t of [text, shorter]) if (g.measureText(t).width <= room) return t;
  return '';
}
function lower(all, n) {
  let a = 0, b = all.length;
  while (a < b) { const m = a + b >> 1; if (all[m] < n) a = m + 1; else b = m; }
  return a;
}
