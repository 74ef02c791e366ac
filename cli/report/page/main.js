'use strict';
// The page put together. `report` is for tests, and for whoever wants the numbers in the browser's console.
const report = {ready: false};

async function build() {
  const started = performance.now();
  const runs = JSON.parse(by_id('data').textContent).map((meta, k) => new Run(meta, k));
  if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark');
  for (const run of runs) await run.unpack();
  report.runs = runs;
  give_colours(runs);
  head(runs);
  by_id('loading').remove();
  const timeline = report.timeline = new Timeline(runs, (what) => { if (what === 'selection') show_detail(timeline); note_address(timeline); });
  legend(timeline);
  tools(timeline);
  still(timeline);
  timeline.resize();  // what is below may have brought a scroll bar
  follow_address(timeline);
  window.addEventListener('hashchange', () => follow_address(timeline));
  print_light(timeline);
  watch_charts(timeline);
  requestAnimationFrame(() => requestAnimationFrame(() => { report.took = performance.now() - started; report.ready = true; }));
}

// What stands behind # in the address: `from=1.2ms&to=3ms&find=C[3]&click&path&dark`; also `item=RUN.NUMBER`, what is
// selected, `without=NAME`, a group that is not shown, and `light`.
function follow_address(timeline) {
  const asked = new URLSearchParams(location.hash.slice(1));
  const time = (text, none) => { const m = /^([\d.]+)(ns|us|ms|s)?$/.exec(text || ''); return m ? m[1] * {ns: 1, us: 1e3, ms: 1e6, s: 1e9}[m[2] || 's'] : none; };
  for (const theme of ['dark', 'light']) if (asked.has(theme)) document.documentElement.classList.toggle('dark', theme === 'dark'), repaint(timeline);
  if (asked.has('path') !== by_id('path').checked) by_id('path').click();
  const without = asked.getAll('without');
  if (without.length) {
    for (const b of by_id('legend').children) for (const g of b.groups) if (without.includes(g.key)) g.shown = false, b.setAttribute('aria-pressed', 'false');
    timeline.refresh_levels();
  }
  if (asked.get('find')) report.find(asked.get('find'));
  if (asked.has('click')) report.go(1);
  const [run, item] = (asked.get('item') || '').split('.').map(Number);
  if (timeline.runs[run] && item < timeline.runs[run].count) timeline.select(timeline.runs[run], item);
  if (asked.has('from') || asked.has('to')) timeline.show(time(asked.get('from'), timeline.begin), time(asked.get('to'), timeline.end));
}

// The address follows what is seen, a moment later: it may be copied at any time.
let address_later = 0;
function note_address(timeline) {
  clearTimeout(address_later);
  address_later = setTimeout(() => { history.replaceState(null, '', '#' + address_of(timeline)); }, 250);
}
function address_of(timeline) {
  const parts = [], put = (name, value) => parts.push(name + (value === undefined ? '' : '=' + encodeURIComponent(value)));
  if (timeline.t0 > timeline.begin || timeline.t1 < timeline.end) put('from', Math.round(timeline.t0) + 'ns'), put('to', Math.round(timeline.t1) + 'ns');
  if (timeline.matches) put('find', by_id('search').value.trim());
  if (timeline.selected) put('item', timeline.runs.indexOf(timeline.selected.run) + '.' + timeline.selected.item);
  if (timeline.show_path) put('path');
  for (const b of by_id('legend').children) if (!b.groups[0].shown) put('without', b.groups[0].key);
  if (is_dark() !== matchMedia('(prefers-color-scheme: dark)').matches) put(is_dark() ? 'dark' : 'light');
  return parts.join('&');
}

function head(runs) {
  document.title = runs.map((r) => r.name).join(', ') + ' - Tessera';
  by_id('title').textContent = runs.map((r) => r.name).join('  and  ');
  by_id('facts').textContent = runs.map((r) => {
    const error = Math.max(0, ...r.ranks.map((x) => x.error));
    return (r.simulated ? 'simulated: ' : '') + (r.from > 0 ? duration(r.span) + ' from ' + duration(r.from) + ' on, on ' : duration(r.finished) + ' on ') + r.ranks.length + (r.ranks.length > 1 ? ' ranks, ' : ' rank, ') + r.lanes.length + (r.lanes.length > 1 ? ' workers' : ' worker') + ', balancer ' + r.balancer + ', ' + r.count.toLocaleString('en') + ' runs of kernels' +
      (error > 0 ? ', clocks of hosts agree within ' + duration(error) : '');
  }).join('   |   ');
  by_id('advice').replaceChildren(...runs.map((r) => make('div', {}, ...(runs.length > 1 ? [make('b', {}, r.name)] : []), make('ol', {}, ...r.sentences.map((s) => make('li', {}, s))))));
  by_id('notes').replaceChildren(...runs.flatMap((r) => r.notes.map((n) => make('p', {class: 'note'}, r.name + ': ' + n))));
}

function legend(timeline) {
  const groups = new Map();
  for (const run of timeline.runs) for (const g of run.groups) if (g.count) groups.set(g.key, [...(groups.get(g.key) || []), g]);
  const own = (list) => list.reduce((a, g) => a + g.own, 0);
  by_id('legend').replaceChildren(...[...groups.values()].sort((a, b) => own(b) - own(a)).map((list) => {
    const button = make('button', {type: 'button', 'aria-pressed': 'true', title: list[0].label + '; with Alt: only this one, then all again', onclick: (e) => {
      if (e.altKey) {
        const alone = [...groups.values()].every((other) => other.every((g) => g.shown === (other === list)));
        for (const other of groups.values()) for (const g of other) g.shown = alone || other === list;
      } else {
        for (const g of list) g.shown = !g.shown;
      }
      for (const [k, b] of [...by_id('legend').children].entries()) b.setAttribute('aria-pressed', String(b.groups[0].shown));
      timeline.refresh_levels(), note_address(timeline);
    }}, make('i', {class: 'swatch', style: 'background:' + list[0].colour}), list[0].name + ' ' + list[0].place);
    button.groups = list;
    return button;
  }));
}

function tools(timeline) {
  const field = by_id('search');
  const go = (step) => {
    if (!timeline.matches) return;
    const all = timeline.runs.flatMap((r) => timeline.matches.get(r).map((i) => [r, i]));
    if (!all.length) return;
    timeline.match = (timeline.match + step + all.length) % all.length;
    const [run, item] = all[timeline.match];
    timeline.select(run, item);
    timeline.go_to(run, item);
    by_id('found').textContent = (timeline.match + 1) + ' of ' + all.length.toLocaleString('en');
  };
  const find = () => {
    const text = field.value.trim();
    timeline.match = -1;
    timeline.matches = text ? new Map(timeline.runs.map((r) => [r, search(r, text)])) : null;
    by_id('found').textContent = text ? timeline.runs.reduce((n, r) => n + timeline.matches.get(r).length, 0).toLocaleString('en') + ' found' : '';
    timeline.redraw(), note_address(timeline);
  };
  report.go = go;
  report.find = (text) => { field.value = text; find(); };
  let later = 0;
  field.addEventListener('input', () => { clearTimeout(later); later = setTimeout(find, 120); });
  field.addEventListener('keydown', (e) => { if (e.key === 'Enter') { clearTimeout(later); if (timeline.match < 0) find(); go(e.shiftKey ? -1 : 1); } if (e.key === 'Escape') { field.value = ''; find(); by_id('bars').focus(); } });
  by_id('next').onclick = () => go(1);
  by_id('previous').onclick = () => go(-1);
  by_id('all').onclick = () => timeline.show(timeline.begin, timeline.end);
  by_id('path').onchange = (e) => { timeline.show_path = e.target.checked; timeline.redraw(), note_address(timeline); };
  by_id('theme').onclick = () => { document.documentElement.classList.toggle('dark'); repaint(timeline), note_address(timeline); };
  document.addEventListener('keydown', (e) => {
    if (e.target.tagName === 'INPUT' && e.target.type === 'search' || e.ctrlKey || e.metaKey || e.altKey) return;
    const act = {'/': () => field.focus(), n: () => go(1), p: () => go(-1), '0': () => timeline.show(timeline.begin, timeline.end), c: () => by_id('path').click(), Escape: () => timeline.select(null)}[e.key];
    if (act) e.preventDefault(), act();
  });
  by_id('balance').addEventListener('mousemove', (e) => {
    const box = by_id('balance').getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    const near = decisions_near(timeline, x, y).slice(0, 5);
    by_id('decision').textContent = near.length ? near.map((m) => decision_text(m.run, m.d)).join('   |   ') : 'Marks above are decisions: point at one.';
  });
}

// All that is drawn once, and again for the other theme.
function still(timeline) {
  const runs = timeline.runs;
  by_id('doings').replaceChildren(...kDoingShort.slice(1).map((name, k) => make('span', {}, make('i', {class: 'swatch', style: 'background:' + doing_colour(k + 1)}), name)));
  const shares = by_id('shares');
  shares.style.cssText = 'display:block;height:auto;border:0';
  shares.replaceChildren(...runs.flatMap((r) => [draw_shares(r), share_keys(r)]));
  by_id('pathlist').replaceChildren(...runs.map(path_list));
  by_id('groups').replaceChildren(...runs.flatMap((r) => [...(runs.length > 1 ? [make('b', {}, r.name)] : []), group_table(r, 6, true)]));
  by_id('strips').replaceChildren(...runs.flatMap((r) => [...(runs.length > 1 ? [make('b', {}, r.name)] : []), strips(r)]));
  const bytes = [], moves = [];
  for (const r of runs) {
    const [b, m] = traffic(r);
    if (runs.length > 1) bytes.push(make('b', {}, r.name)), moves.push(make('b', {}, r.name));
    bytes.push(...b), moves.push(...m);
  }
  by_id('bytes').replaceChildren(...bytes), by_id('moves').replaceChildren(...moves);
  by_id('memory_keys').replaceChildren(...runs.map(memory_keys));
  by_id('source').replaceChildren(...runs.flatMap((r) => [...(runs.length > 1 ? [make('b', {}, r.name)] : []), source_view(r)]));
  by_id('decision').textContent = 'Marks above are decisions: point at one.';
  const decided = runs.flatMap((r) => r.decisions.slice(0, 500).map((d) => decision_text(r, d)));
  by_id('decisions_title').textContent = runs.reduce((n, r) => n + r.decisions_all, 0).toLocaleString('en') + ' decisions' + (decided.length < runs.reduce((n, r) => n + r.decisions_all, 0) ? ', the first ' + decided.length : '');
  by_id('decisions').replaceChildren(...decided.map((t) => make('div', {class: 'note'}, t)));
}

// What is drawn does not follow style sheets: for another theme all is drawn again, also what nobody sees yet.
function repaint(timeline) {
  timeline.draw(), still(timeline), draw_charts(timeline, true);
}

// On paper it is light.
function print_light(timeline) {
  const all = (dark) => { document.documentElement.classList.toggle('dark', dark); repaint(timeline); };
  let was = false;
  window.addEventListener('beforeprint', () => { was = is_dark(); if (was) all(false); else draw_charts(timeline, true); });
  window.addEventListener('afterprint', () => { if (was) all(true); });
}

// Those that somebody sees, or all: a frame costs the browser more for its canvases than the page for drawing them.
const kCharts = {doing: draw_doing, balance: draw_balance, memory: draw_memory};
function draw_charts(timeline, all) {
  for (const [id, draw] of Object.entries(kCharts)) {
    const canvas = by_id(id);
    canvas.late = !all && canvas.seen === false;
    if (!canvas.late) draw(timeline);
  }
}
function watch_charts(timeline) {
  const watch = new IntersectionObserver((changes) => {
    for (const c of changes) c.target.seen = c.isIntersecting;
    for (const [id, draw] of Object.entries(kCharts)) if (by_id(id).late && by_id(id).seen) by_id(id).late = false, draw(timeline);
  }, {rootMargin: '200px'});
  for (const id of Object.keys(kCharts)) watch.observe(by_id(id));
}

build().catch((e) => { by_id('loading').textContent = 'This page could not be shown: ' + e.message + '. It needs a browser of 2023 or later (DecompressionStream).'; report.error = String(e.stack); });
