'use strict';
// Colours that people with any colour vision tell apart (Okabe and Ito); after the eighth group they come again, lighter
// or darker. Kernels are full bars, what workers do else is pale and low.
const kPalette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#8c6bb1'];
const kDoing = ['#0072b2', '#9aa5b1', '#d55e00', '#56b4e9', '#cc79a7', '#7b5ea7', '#f0b400', '#e4e8ec'];
const kDoingDark = ['#3d9be0', '#7d8894', '#ff8a3d', '#4d88b0', '#a8638b', '#a98bdb', '#c79a10', '#262c33'];
const kDoingShort = ['kernels', 'making fragments', 'overhead', 'idle: transfer', 'idle: value not made yet', 'idle: moved there late', 'idle: work elsewhere', 'idle: nothing ready'];

function mix_colour(hex, other, share) {
  const part = (h, k) => parseInt(h.slice(1 + 2 * k, 3 + 2 * k), 16);
  return '#' + [0, 1, 2].map((k) => Math.round(part(hex, k) * (1 - share) + part(other, k) * share).toString(16).padStart(2, '0')).join('');
}
function nth_colour(n) {
  const base = kPalette[n % kPalette.length], round = Math.floor(n / kPalette.length);
  return round === 0 ? base : mix_colour(base, round % 2 ? '#ffffff' : '#000000', Math.min(0.65, 0.25 + 0.12 * round));
}
function is_dark() { return document.documentElement.classList.contains('dark'); }
function doing_colour(d) { return (is_dark() ? kDoingDark : kDoing)[d]; }
// Styles are asked for once for each theme: the answer may take a layout.
const kStyles = {true: new Map(), false: new Map()};
function css(name) {
  const known = kStyles[is_dark()];
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return known.get(name);
}
function ink_on(hex) {
  const [r, g, b] = [0, 1, 2].map((k) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16));
  return 0.3 * r + 0.59 * g + 0.11 * b > 140 ? '#000000' : '#ffffff';
}

// The same name has the same colour in all runs; the heaviest come first.
function give_colours(runs) {
  const own = new Map();
  for (const run of runs) for (const g of run.groups) if (g.count) own.set(g.name + g.place, (own.get(g.name + g.place) || 0) + g.own);
  const order = [...own].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  for (const run of runs) {
    for (const g of run.groups) {
      const n = order.indexOf(g.name + g.place);
      g.key = g.name + g.place;
      g.colour = n < 0 ? '#888888' : nth_colour(n);
      g.shown = true;
    }
  }
  return order;
}
