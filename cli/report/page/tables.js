'use strict';
// What does not depend on the view: shares, critical path, groups, heat strips, matrices, source.
function draw_shares(run) {
  const all = run.sums.reduce((a, b) => a + b, 0) || 1;
  return make('div', {id: 'shares', style: 'margin-bottom:2px'}, ...run.sums.map((s, d) => make('span', {style: 'width:' + 100 * s / all + '%;background:' + doing_colour(d), title: run.doings[d] + ': ' + percent(s / all)})));
}
function share_keys(run) {
  const all = run.sums.reduce((a, b) => a + b, 0) || 1;
  return make('div', {class: 'keys'}, ...(report.runs.length > 1 ? [make('b', {}, run.name)] : []),
    ...run.sums.map((s, d) => make('span', {}, make('i', {class: 'swatch', style: 'background:' + doing_colour(d)}), run.doings[d] + ' ' + percent(s / all))));
}

function path_list(run) {
  const all = run.path.reduce((a, [, t]) => a + t, 0) || 1, box = make('div', {});
  if (report.runs.length > 1) box.append(make('b', {}, run.name));
  for (const [what, time] of run.path.slice(0, 12)) {
    const group = run.groups.find((g) => g.label === what);
    box.append(make('div', {class: 'bar'}, make('span', {class: 'name', title: what}, group ? group.name + '  ' + group.place : what),
      make('span', {class: 'track'}, make('span', {class: 'fill', style: 'width:' + 100 * time / all + '%;background:' + (group ? group.colour : css('--faint'))})),
      make('span', {class: 'number'}, duration(time))));
  }
  box.append(make('p', {class: 'note'}, 'What held the run up, from its end back to its start: ' + duration(all) + ' of ' + duration(run.span) +
    '. Apart from workers and links, the longest chain of fragments takes ' + duration(run.chain) + '.'));
  return box;
}

function group_table(run, order, descending) {
  const columns = [['group', (g) => g.name, true], ['where', (g) => g.place, true], ['count', (g) => g.count], ['mean', (g) => g.mean, false, duration],
    ['deviation', (g) => g.deviation, false, duration], ['longest', (g) => g.longest, false, duration], ['total', (g) => g.own, false, duration], ['share', (g) => g.own / total, false, percent]];
  const total = run.groups.reduce((a, g) => a + (g.own || 0), 0) || 1;
  const rows = run.groups.filter((g) => g.count > 0).sort((a, b) => { const x = columns[order][1](a), y = columns[order][1](b); return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1); });
  const table = make('table', {}, make('tr', {}, ...columns.map(([name, , text], k) => make('th', {class: 'sorts' + (text ? ' text' : ''), tabindex: '0',
    onclick: () => table.replaceWith(group_table(run, k, order === k ? !descending : !text)), onkeydown: (e) => { if (e.key === 'Enter') e.target.click(); }}, name + (order === k ? (descending ? ' ▾' : ' ▴') : '')))),
    ...rows.map((g) => make('tr', {}, ...columns.map(([name, of, text, show], k) => make('td', text ? {class: 'text'} : {}, ...(k === 0 ? [make('i', {class: 'swatch', style: 'background:' + g.colour}), ' '] : []), show ? show(of(g)) : String(of(g)))))));
  return table;
}

// A strip for each block that has counters: the mean time of its fragments by the counter that tells most about it.
function strips(run) {
  const box = make('div', {class: 'strips'}), items = run.blocks.map(() => null);
  run.blocks.forEach((b, k) => { if (b.kernel && b.names.length && b.count > 1) items[k] = new Uint32Array(b.count); });
  for (let i = 0; i < run.count; ++i) if (items[run._block[i]]) items[run._block[i]][run.ordinal[i]] = i;
  const heavy = run.blocks.map((block, b) => ({block, b})).filter(({b}) => items[b]).sort((x, y) => y.block.own - x.block.own).slice(0, 12);
  for (const {block, b} of heavy) {
    const all = block.names.map((name, k) => strip_of(run, items[b], name, k)).filter((s) => s).sort((x, y) => y.told - x.told);
    if (all.length) box.append(draw_strip(run.groups[block.group], all[0]));
  }
  if (!box.children.length) box.append(make('p', {class: 'note'}, 'No group has a counter.'));
  return box;
}
function strip_of(run, items, name, k) {
  let least = Infinity, most = -Infinity;
  for (const i of items) { const n = run.number_of(i, k); if (n < least) least = n; if (n > most) most = n; }
  if (least === most) return null;
  const bins = Math.min(240, most - least + 1), sum = new Float64Array(bins), count = new Float64Array(bins);
  let own = 0, told = 0;
  for (const i of items) {
    const at = Math.min(bins - 1, Math.floor((run.number_of(i, k) - least) * bins / (most - least + 1)));
    own += run.own(i), sum[at] += run.own(i), ++count[at];
  }
  const mean = own / items.length;
  const means = Array.from(sum, (x, j) => count[j] ? x / count[j] : null);
  means.forEach((m, j) => { if (m !== null) told += count[j] * (m - mean) * (m - mean); });
  return {name, least, most, means, told};
}
function draw_strip(g, s) {
  const canvas = make('canvas', {'aria-label': 'mean time of ' + g.name + ' by ' + s.name}), high = s.means.reduce((a, m) => Math.max(a, m || 0), 0) || 1;
  canvas.width = s.means.length, canvas.height = 1;
  const c = canvas.getContext('2d');
  s.means.forEach((m, k) => { c.fillStyle = m === null ? css('--paper') : mix_colour(is_dark() ? '#1d2126' : '#ffffff', is_dark() ? '#f0b400' : '#7f2704', m / high); c.fillRect(k, 0, 1, 1); });
  canvas.addEventListener('mousemove', (e) => {
    const k = Math.min(s.means.length - 1, Math.floor(e.offsetX / canvas.clientWidth * s.means.length)), wide = (s.most - s.least + 1) / s.means.length;
    const from = Math.ceil(s.least + k * wide), to = Math.ceil(s.least + (k + 1) * wide) - 1;
    canvas.title = s.name + ' = ' + from + (to > from ? ' to ' + to : '') + ': ' + (s.means[k] === null ? 'none' : duration(s.means[k]) + ' in the mean');
  });
  const wide = 'width:' + Math.min(100, 4 * s.means.length) + '%';
  return make('div', {class: 'strip'}, make('b', {}, g.name), ' ' + g.place + ', white: 0, full: ' + duration(high), make('div', {style: wide}, canvas,
    make('div', {class: 'note'}, make('span', {}, s.name + ' = ' + s.least), make('span', {}, String(s.most)))));
}

// A table of few ranks, a picture of many. `cells`: [from, to, number].
function matrix(run, cells, show) {
  const n = run.ranks.length, of = new Map(cells.filter((c) => c[2] > 0).map(([a, b, v]) => [a * n + b, v]));
  const most = cells.reduce((m, c) => Math.max(m, c[2]), 0);
  if (most === 0) return make('p', {class: 'note'}, 'None.');
  const paper = is_dark() ? '#14171b' : '#ffffff', title = (a, b) => 'rank ' + a + ' → rank ' + b + ': ' + show(of.get(a * n + b) || 0);
  if (n > 24) {
    const size = Math.max(1, Math.floor(480 / n)), canvas = make('canvas', {style: 'width:' + size * n + 'px;height:' + size * n + 'px;border:1px solid var(--line)'});
    canvas.width = canvas.height = n;
    canvas.className = 'cells';
    const g = canvas.getContext('2d');
    for (const [at, v] of of) g.fillStyle = mix_colour(paper, '#0072b2', 0.1 + 0.9 * v / most), g.fillRect(at % n, Math.floor(at / n), 1, 1);
    canvas.addEventListener('mousemove', (e) => { canvas.title = title(Math.min(n - 1, Math.floor(e.offsetY / size)), Math.min(n - 1, Math.floor(e.offsetX / size))); });
    return make('div', {}, canvas, make('p', {class: 'note'}, 'from top to bottom, to from left to right; full: ' + show(most)));
  }
  const cell = (a, b) => {
    const v = of.get(a * n + b) || 0, colour = mix_colour(paper, '#0072b2', v / most);
    return make('td', {style: v ? 'background:' + colour + ';color:' + ink_on(colour) : '', title: title(a, b)}, v ? show(v) : '');
  };
  const all = Array.from({length: n}, (_, k) => k);
  return make('div', {class: 'scroll'}, make('table', {class: 'matrix'}, make('tr', {}, make('th', {}, 'from \\ to'), ...all.map((b) => make('th', {}, String(b)))),
    ...all.map((a) => make('tr', {}, make('th', {}, String(a)), ...all.map((b) => cell(a, b))))));
}

function traffic(run) {
  const t = run.traffic, kinds = t.kinds.filter((k) => k[2] > 0).sort((a, b) => b[2] - a[2]).slice(0, 6), sum = (k) => t.pairs.reduce((a, p) => a + p[k], 0);
  return [[matrix(run, t.pairs.map((p) => [p[0], p[1], p[2]]), size_text), make('p', {class: 'note'}, 'of these ' + kinds.map(([kind, count, bytes]) => kind + ' (' + count.toLocaleString('en') + '): ' + size_text(bytes)).join('; '))],
    [matrix(run, t.pairs.map((p) => [p[0], p[1], p[4] + p[5]]), String), make('p', {class: 'note'}, 'moved by the balancer: ' + sum(4).toLocaleString('en') + '; placed by locators: ' + sum(5).toLocaleString('en'))]];
}

function source_view(run) {
  const own = new Map();
  for (const b of run.blocks) {
    if (!b.count) continue;
    const key = b.file + ':' + b.line, o = own.get(key) || [0, 0];
    o[0] += b.own, o[1] += b.count;
    own.set(key, o);
  }
  const most = Math.max(1, ...Array.from(own.values(), (o) => o[0]));
  const box = make('div', {});
  for (const s of run.sources) {
    if (!s.lines.some((_, k) => own.has(s.name + ':' + (k + 1)))) continue;
    const code = make('div', {class: 'code', tabindex: '0'}, ...s.lines.map((text, k) => {
      const o = own.get(s.name + ':' + (k + 1));
      return make('div', {class: 'row'}, make('span', {class: 'time'}, o ? duration(o[0]) : ''), make('span', {class: 'heat', title: o ? o[1] + ' fragments' : ''}, o ? make('i', {style: 'width:' + Math.max(1, 100 * o[0] / most) + '%'}) : ''),
        make('span', {class: 'number'}, String(k + 1)), make('span', {}, text));
    }));
    box.append(make('p', {class: 'note'}, s.name), code);
    // What took most is seen at once.
    const of_line = (k) => (own.get(s.name + ':' + (k + 1)) || [0])[0];
    const heavy = s.lines.reduce((a, _, k) => of_line(k) > of_line(a) ? k : a, 0);
    requestAnimationFrame(() => { code.scrollTop = code.children[heavy].offsetTop - code.offsetTop - code.clientHeight / 2; });
  }
  if (!box.children.length) box.append(make('p', {class: 'note'}, 'The program\'s text could not be read when it was recorded.'));
  return box;
}
