'use strict';
// What there is to say of one fragment: in the tooltip, and in full beside the timeline.
const kUnknown = 3, kWhy = ['it was created', 'its last input came', 'the balancer moved it here', ''];

function about_item(run, i, brief) {
  const b = run.block(i), parts = [make('b', {}, run.label(i)), make('br'), short_path(b.file) + ':' + b.line + '  ' + b.text, make('br')];
  parts.push(run.where(i) + ', ' + moment(run.start(i)) + ' to ' + moment(run.end(i)) + ': ', make('b', {}, duration(run.length_of(i))));
  const made = run.slots(i, true), read = run.slots(i, false);
  if (made.length) parts.push(make('br'), 'makes ' + made.slice(0, 6).join(', ') + ' (' + size_text(run._output[i]) + ')');
  if (read.length && brief) {
    parts.push(make('br'), 'reads ' + read.slice(0, 6).join(', ') + (read.length > 6 ? ', ...' : ''));
    const inputs = run.inputs(i);
    inputs.slice(0, 4).forEach((x) => {
      if (x.item >= 0) parts.push(make('br'), '  ' + (run.slots(x.item, true)[0] || run.label(x.item)) + ' from ' + run.where(x.item) + (x.came === null ? '' : ', came at ' + moment(x.came)));
    });
  }
  if (run._why[i] === kUnknown) parts.push(make('br'), 'since when it could run is not known: what made it was before the time that is shown');
  else parts.push(make('br'), 'could run since ' + moment(run.start(i) - run.wait(i)) + ', when ' + (run._why[i] === 0 && run.travel(i) > 0 ? 'it came here, where its locator places it' : kWhy[run._why[i]]) +
             (run.wait(i) > 0 ? '; waited ' + duration(run.wait(i)) + ' for a worker' : ''));
  return parts;
}

// What a worker did that ran no kernel; when it waited for something, for what, and where that was.
function about_span({run, lane, doing, start, end}) {
  const parts = [make('b', {}, run.doings[doing]), ', ' + duration(end - start) + ', from ' + moment(start) + ' on'];
  if (doing < 2) return parts;
  const next = first_after(run, lane, end);
  if (next < 0) return [...parts, make('br'), 'nothing ran here any more'];
  const by = run.by(next), moved = run._why[next] === 2;
  parts.push(make('br'), 'then ran ' + run.label(next) + ', at ' + moment(run.start(next)));
  if (doing === 3 && run._why[next] === 0) parts.push(make('br'), 'its locator places it here; it was on its way' + (by >= 0 ? ', made by ' + run.label(by) + ', ' + run.where(by) : ''));
  else if ((doing === 3 || doing === 4) && by >= 0) parts.push(make('br'), 'it waited for ' + (run.slots(by, true)[0] || 'a value') + ' of ' + run.label(by) + ', ' + run.where(by) + ', made at ' + moment(run.end(by)));
  if (moved) {
    const c = run.column, m = c.move_item.lastIndexOf(next);
    if (m >= 0) parts.push(make('br'), 'which lay on rank ' + c.move_from[m] + ' until ' + moment(run.time(c.move_at[m])));
  }
  return parts;
}
// The item of the lane that begins next, from a tick before then on; -1: none does.
function first_after(run, lane, at) {
  let a = lane.first, b = lane.last;
  while (a < b) { const m = a + b >> 1; if (run.start(m) < at - run.tick) a = m + 1; else b = m; }
  return a < lane.last ? a : -1;
}

function show_detail(timeline) {
  const box = by_id('detail'), selected = timeline.selected;
  box.hidden = !selected;
  if (!selected) return;
  const {run, item} = selected;
  const link = (i) => make('a', {onclick: () => { timeline.select(run, i); timeline.go_to(run, i); }}, run.label(i));
  const inputs = run.inputs(item).map((x) => make('li', {},
    ...(x.item < 0 ? [run.from > 0 ? 'what was before the time that is shown, or the end of a block' : 'the end of a block, or main'] : [(run.slots(x.item, true).join(', ') || 'a value') + ' of ', link(x.item), ', ' + run.where(x.item) + ', made at ' + moment(run.end(x.item))]),
    ', ' + size_text(x.bytes) + (x.came === null ? '' : '; came by a message at ' + moment(x.came))));
  const readers = run.readers(item), shown = readers.slice(0, 100).map((r) => make('li', {}, link(r), ', ' + run.where(r) + ', at ' + moment(run.start(r))));
  if (readers.length > 100) shown.push(make('li', {}, '... and ' + (readers.length - 100) + ' more'));
  const moves = [], c = run.column;
  for (let k = 0; k < c.move_item.length; ++k) {
    if (c.move_item[k] !== item) continue;
    moves.push(make('li', {}, 'came from rank ' + c.move_from[k] + ' to rank ' + c.move_to[k] + ' at ' + moment(run.time(c.move_at[k])) + (c.move_policy[k] ? ': the balancer moved it' : ': its locator places it there')));
  }
  const by = run.by(item);
  const since = by >= 0 ? make('p', {}, 'What it waited for last: ', link(by), run.travel(item) > 0 ? '; then ' + duration(run.travel(item)) + ' on the way' : '') : null;
  box.replaceChildren(make('p', {}, ...about_item(run, item, false)), ...(since ? [since] : []), ...(moves.length ? [make('ul', {}, ...moves)] : []),
    make('div', {class: 'sides'}, make('div', {}, make('b', {}, 'It waited for'), make('ul', {}, ...(inputs.length ? inputs : [make('li', {}, 'nothing')]))),
      make('div', {}, make('b', {}, 'These waited for it'), make('ul', {}, ...(shown.length ? shown : [make('li', {}, 'nobody')])))));
}
