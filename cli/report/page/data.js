'use strict';
// The data of the report, unpacked: one Run for each trace. Times are ns, on the clock of rank 0.

class Run {
  constructor(meta, number) {
    Object.assign(this, meta);
    this.number = number;
    this.span = this.finished - this.from;
  }

  // As cli/report/columns.cpp packs them.
  async unpack() {
    const text = atob(this.data);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
    this.data = null;
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const column = {};
    let at = 0;
    for (const [name, size, planes, as] of this.columns) {
      const out = new Uint32Array(size);
      for (let p = 0; p < planes; ++p, at += size) {
        const shift = 8 * p;
        for (let i = 0; i < size; ++i) out[i] |= bytes[at + i] << shift;
      }
      let before = 0;
      if (as === 1) for (let i = 0; i < size; ++i) out[i] = before = before + ((out[i] >>> 1) ^ -(out[i] & 1)) >>> 0;
      if (as === 2) for (let i = 0; i < size; ++i) out[i] = (out[i] >>> 1) ^ -(out[i] & 1);
      column[name] = out;
    }
    this.column = column;
    this.count = column.gap.length;
    // Each begins so long after the one before it in the list has ended.
    for (let i = 0, ended = 0, start = column.gap; i < this.count; ++i) {
      start[i] = ended + start[i] >>> 0;
      ended = start[i] + column.length[i] >>> 0;
    }
    column.start = column.gap;
    for (const name of ['start', 'length', 'inside', 'block', 'wait', 'why', 'by', 'travel', 'output']) this['_' + name] = column[name];
    this.index();
  }

  index() {
    const n = this.count, c = this.column;
    // Of each item: where it is among those of its block, its lane, its first input.
    this.ordinal = new Uint32Array(n);
    this.lane = new Uint32Array(n);
    const seen = new Uint32Array(this.blocks.length);
    for (let i = 0; i < n; ++i) this.ordinal[i] = seen[c.block[i]]++;
    this.input_first = new Uint32Array(n + 1);
    for (let i = 0; i < n; ++i) this.input_first[i + 1] = this.input_first[i] + c.inputs[i];
    let first = 0, span = 0;
    this.lanes = this.lanes.map(([rank, worker, size], k) => {
      const lane = {run: this, number: k, rank, worker, first, last: first + size, span, span_last: span + c.spans[k]};
      this.lane.fill(k, first, first + size);
      // The latest end up to each item: where to begin to look for what lasts until then.
      lane.ends = new Uint32Array(size);
      for (let i = 0, e = 0; i < size; ++i) lane.ends[i] = e = Math.max(e, c.start[first + i] + c.length[first + i]);
      first += size;
      span += c.spans[k];
      return lane;
    });
    this.group_of = this.blocks.map((b) => b.group);
    this.numbers = this.blocks.map((b, k) => {
      const all = [];
      for (let m = 0; column_of(c, 'n', k, m); ++m) all.push({low: column_of(c, 'n', k, m), high: column_of(c, 'h', k, m)});
      return all;
    });
    this.groups.forEach((g, k) => {
      g.number = k;
      g.mean = g.count ? g.own / g.count : 0;
      const at = g.label.lastIndexOf(' at ');
      g.name = at < 0 ? g.label : g.label.slice(0, at);
      g.place = at < 0 ? '' : short_path(g.label.slice(at + 4));
    });
  }

  // When a tick is. What is kept of the run begins at `from`.
  time(tick) { return this.from + tick * this.tick; }
  start(i) { return this.time(this._start[i]); }
  length_of(i) { return this._length[i] * this.tick; }
  end(i) { return this.time(this._start[i] + this._length[i]); }
  // When what one made left it, and who read it began: a kernel's values may be read before it returns.
  arrow(from, to) { return [Math.min(this.end(from), this.start(to)), this.start(to)]; }
  own(i) { return (this._length[i] - this._inside[i]) * this.tick; }
  wait(i) { return this._wait[i] * this.tick; }
  travel(i) { return this._travel[i] * this.tick; }
  block(i) { return this.blocks[this._block[i]]; }
  group(i) { return this.groups[this.group_of[this._block[i]]]; }

  // An item as another one has it (page.cpp, away); -1: none.
  near(from, v) { return v === 0 ? -1 : v & 1 ? from - (v - 1) / 2 : from + v / 2; }
  by(i) {
    const v = this._by[i], inputs = this.column.inputs[i];
    return v === 0 ? -1 : v <= inputs ? this.near(i, this.column.input[this.input_first[i] + v - 1]) : this.near(i, v - inputs);
  }
  inputs(i) {
    const all = [];
    for (let k = this.input_first[i]; k < this.input_first[i + 1]; ++k) {
      const came = this.column.arrival[k];
      all.push({item: this.near(i, this.column.input[k]), bytes: this.column.bytes[k],
                came: came === 0 ? null : this.start(i) - (came - 1) * this.tick});
    }
    return all;
  }
  // Who read what it made; found when somebody asks first.
  readers(i) {
    if (!this.reader_first) {
      const first = new Uint32Array(this.count + 2), all = this.column.input;
      const each = (f) => { for (let r = 0; r < this.count; ++r) for (let k = this.input_first[r]; k < this.input_first[r + 1]; ++k) { const m = this.near(r, all[k]); if (m >= 0) f(m, r); } };
      each((m) => ++first[m + 2]);
      for (let m = 2; m < first.length; ++m) first[m] += first[m - 1];
      this.reader = new Uint32Array(first[this.count + 1]);
      each((m, r) => { this.reader[first[m + 1]++] = r; });
      this.reader_first = first;
    }
    return Array.from(this.reader.subarray(this.reader_first[i], this.reader_first[i + 1]));
  }

  number_of(i, k) {
    const n = this.numbers[this._block[i]][k], at = this.ordinal[i];
    return n.high ? (n.high[at] | 0) * 4294967296 + n.low[at] : n.low[at] | 0;
  }
  variables(i) { return this.block(i).names.map((name, k) => name + '=' + this.number_of(i, k)); }
  // `A[1][2]`: what it read, or assigned.
  slots(i, output) {
    const b = this.block(i);
    let at = b.names.length;
    const all = [];
    for (const [base, indices, out] of b.slots) {
      let text = base;
      for (let k = 0; k < indices; ++k) text += '[' + this.number_of(i, at + k) + ']';
      at += indices;
      if (!!out === output) all.push(text);
    }
    return all;
  }
  label(i) {
    const v = this.variables(i);
    return this.group(i).name + (v.length ? ' (' + v.join(', ') + ')' : '');
  }
  where(i) {
    const lane = this.lanes[this.lane[i]];
    return 'rank ' + lane.rank + (this.ranks[lane.rank].workers > 1 ? '.' + lane.worker : '') ;
  }
}

function column_of(columns, letter, block, number) { return columns[letter + block + '_' + number]; }
function short_path(path) { return path.slice(path.lastIndexOf('/') + 1); }

function duration(ns) {
  const a = Math.abs(ns);
  if (a >= 1e9) return trim(ns / 1e9) + ' s';
  if (a >= 1e6) return trim(ns / 1e6) + ' ms';
  if (a >= 1e3) return trim(ns / 1e3) + ' µs';
  return Math.round(ns) + ' ns';
}
// A point in time: three digits more than of a duration, so that what is near it can be told from it.
function moment(ns) {
  if (Math.abs(ns) >= 1e9) return (ns / 1e9).toFixed(6) + ' s';
  if (Math.abs(ns) >= 1e6) return (ns / 1e6).toFixed(4) + ' ms';
  return (ns / 1e3).toFixed(2) + ' µs';
}
function trim(x) { return Math.abs(x) >= 100 ? x.toFixed(0) : Math.abs(x) >= 10 ? x.toFixed(1) : x.toFixed(2); }
function size_text(bytes) {
  for (const [unit, one] of [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]]) if (bytes >= one) return trim(bytes / one) + ' ' + unit;
  return Math.round(bytes) + ' B';
}
function percent(x) { return (100 * x).toFixed(x < 0.1 && x > 0 ? 1 : 0) + ' %'; }

// Elements: make('td', {class: 'text'}, 'text', child).
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value); else if (name === 'style') e.style.cssText = value; else e.setAttribute(name, value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}
function by_id(id) { return document.getElementById(id); }
