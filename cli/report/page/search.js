'use strict';
// What the search field understands, all of it together: part of a name or statement, `i=2`, `C[3][4]` (`C[3]`: all of that
// row, `*`: any), `rank 1`.
function search(run, text) {
  const tests = [];  // for each: by block, true, false, or a function of the item
  const slot = /^([A-Za-z_]\w*)((?:\[(?:-?\d+|\*)?\]?)+)$/, variable = /^([A-Za-z_]\w*)=(-?\d+)$/;
  const words = text.replace(/rank\s+(\d+)/gi, 'rank=$1').trim().split(/\s+/).filter((w) => w);
  for (const word of words) {
    const s = word.match(slot), v = word.match(variable);
    if (v && v[1].toLowerCase() === 'rank') {
      tests.push(run.blocks.map(() => (i) => run.lanes[run.lane[i]].rank === +v[2]));
    } else if (v) {
      tests.push(run.blocks.map((b) => { const k = b.names.indexOf(v[1]); return k >= 0 && b.kernel ? (i) => run.number_of(i, k) === +v[2] : false; }));
    } else if (s) {
      const wanted = s[2].split('[').slice(1).map((x) => x.replace(']', '')).filter((x) => x !== '');
      tests.push(run.blocks.map((b) => {
        const places = [];
        let at = b.names.length;
        for (const [base, indices] of b.slots) { if (base === s[1] && wanted.length <= indices) places.push(at); at += indices; }
        if (!places.length) return false;
        return (i) => places.some((p) => wanted.every((w, k) => w === '*' || run.number_of(i, p + k) === +w));
      }));
    } else {
      const low = word.toLowerCase();
      tests.push(run.blocks.map((b) => (run.groups[b.group].label + ' ' + b.text).toLowerCase().includes(low)));
    }
  }
  const found = [];
  const by_block = run.blocks.map((_, b) => { const all = tests.map((t) => t[b]); return all.includes(false) ? null : all.filter((t) => t !== true); });
  for (let i = 0; i < run.count; ++i) {
    const all = by_block[run._block[i]];
    if (all !== null && all.every((t) => t(i))) found.push(i);
  }
  return found;
}
