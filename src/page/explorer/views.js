// SPDX-License-Identifier: MIT
// The views of the answers: charts, tables, the graph of a layer, and what can be taken away.
'use strict';

// A table or graph that may be wider than the page; a shadow at its right edge shows that more follows.
function wideBox(label, content) {
  const box = make('div', { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': label }, content);
  const mark = () => box.classList.toggle('more', box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  box.addEventListener('scroll', mark);
  new ResizeObserver(mark).observe(box);
  return box;
}

function download(name, type, data) {
  const url = URL.createObjectURL(data instanceof Blob ? data : new Blob([data], { type }));
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

async function copy(text, button) {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = make('textarea', { value: text });
    document.body.append(area); area.select(); document.execCommand('copy'); area.remove();
  }
  const before = button.textContent;
  button.textContent = 'Copied';
  setTimeout(() => { button.textContent = before; }, 1200);
}

const copyButton = (label, text) => make('button', { type: 'button', onclick: (e) => copy(text(), e.target) }, label);

function savePng(svg, name) {
  const image = new Image();
  image.onload = () => {
    const canvas = make('canvas', { width: 2 * svg.viewBox.baseVal.width, height: 2 * svg.viewBox.baseVal.height });
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(`${name}.png`, 'image/png', blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
}

const imageButtons = (name, svg) => make('div', { className: 'row no-print' },
  make('button', { type: 'button', title: 'Save as SVG', 'aria-label': 'Save as SVG', onclick: () => download(`${name}.svg`, 'image/svg+xml', svgText(svg)) }, 'SVG'),
  make('button', { type: 'button', title: 'Save as PNG', 'aria-label': 'Save as PNG', onclick: () => savePng(svg, name) }, 'PNG'));

// The table of a view as a file; cells with commas are quoted.
const tableButton = (name, view) => make('button', { type: 'button', title: 'Save the table as CSV', onclick: () => {
  const cell = ({ textContent: t }) => (/[",\n]/.test(t) && !/^[−\d,.]+$/.test(t) ? `"${t.replaceAll('"', '""')}"` : t.replaceAll(',', ''));
  download(`${name}.csv`, 'text/csv', [...view.querySelectorAll('table tr')].map((row) => `${[...row.cells].map(cell).join(',')}\n`).join(''));
} }, 'CSV');

// A chart with its buttons. The zoom of each kind of chart stays as long as the page.
function chartNode(kind, chart) {
  const keep = spans[kind] ?? (spans[kind] = {});
  const subject = JSON.stringify([chart.x, chart.y, state.about, state.model, state.operator]);
  if (keep.subject !== subject) Object.assign(keep, { subject, span: undefined });
  const drawn = new Chart(chart, keep, byId('view').clientWidth);
  const button = (label, title, act) => make('button', { type: 'button', title, 'aria-label': title, onclick: act }, label);
  return make('div', {}, drawn.svg, make('div', { className: 'row no-print' },
    button('+', 'Zoom in', () => drawn.zoom(1 / 1.4)), button('−', 'Zoom out', () => drawn.zoom(1.4)),
    button('←', 'Move left', () => drawn.pan(-0.15, 0)), button('→', 'Move right', () => drawn.pan(0.15, 0)),
    button('↑', 'Move up', () => drawn.pan(0, 0.15)), button('↓', 'Move down', () => drawn.pan(0, -0.15)), button('Whole', 'Whole chart', () => drawn.home()),
    ...imageButtons(kind, drawn.svg).childNodes));
}

const operatorsOf = (prediction) => prediction.operators ?? [{ name: prediction.operator, count: 1, ...prediction }];
const timeOf = (o) => o.expected_time_us ?? o.time_us;

function roofLines(answer, formats) {
  const { roof, color } = answer;
  const top = roof.ceilings.filter((c) => c.formats.some((f) => formats.has(f)));
  const used = top.length > 0 ? top : roof.ceilings.slice(0, 1);
  used.sort((a, b) => (a.unit === b.unit ? 0 : a.unit === 'matrix' ? -1 : 1));
  return used.map((ceiling, i) => {
    const ridge = (ceiling.peak_tflops * 1000) / roof.bandwidth_gb_s;
    return { name: `${deviceName(answer.device)}: ${ceiling.formats.join(', ')} (${ceiling.unit} unit), ${short(ceiling.peak_tflops)} TFLOPS, ridge at ${short(ridge)} FLOP/byte`, color,
      dash: ceiling.unit === 'vector' ? '6 4' : undefined, legend: `${deviceName(answer.device)} ${ceiling.formats.join(', ')}${ceiling.unit === 'vector' ? ', vector unit' : ''}: ${short(ceiling.peak_tflops)} TFLOPS`,
      points: [[1e-3, 1e-6 * roof.bandwidth_gb_s], [ridge, ceiling.peak_tflops], [1e6, ceiling.peak_tflops]], width: i === 0 ? 2.5 : 1.5 };
  });
}

function viewRoofline(view) {
  const lines = [], dots = [];
  for (const answer of answers) {
    const operators = operatorsOf(answer.step).filter((o) => o.flops > 0);
    const total = operators.reduce((sum, o) => sum + timeOf(o) * o.count, 0);
    const shown = operators.filter((o) => timeOf(o) * o.count > 0.01 * total);
    lines.push(...roofLines(answer, new Set(shown.map((o) => o.compute_precision))));
    for (const o of shown) {
      const share = (timeOf(o) * o.count) / total;
      dots.push({ x: o.arithmetic_intensity, y: o.flops / timeOf(o) / 1e6, low: o.flops / (o.expected_high_us ?? NaN) / 1e6, high: o.flops / (o.expected_low_us ?? NaN) / 1e6,
        size: 4 + 14 * Math.sqrt(share), color: answer.color, open: o.expected_time_us === undefined, name: o.name, quiet: answer !== answers[0],
        note: `${short(100 * share)}% of the time, ${milliseconds(timeOf(o))}${o.count > 1 ? `, ${o.count} times` : ''}, ${short(o.arithmetic_intensity)} FLOP/byte, limited by ${o.expected_bottleneck ?? o.bottleneck}`,
        choose: () => choose(answer, o) });
    }
  }
  // A roof is drawn where dots stand and at its ridge, and no further than an edge of the chart.
  const xs = [...dots.map((d) => d.x), ...lines.map((l) => l.points[1][0])];
  const [low, high] = spanOf(xs, 4);
  for (const line of lines) {
    const [, [ridge, peak]] = line.points;
    const slope = peak / ridge;
    line.points = [[Math.min(low, ridge), slope * Math.min(low, ridge)], [ridge, peak], [Math.max(high, ridge), peak]];
  }
  const title = `Roofline of ${byId('question').textContent}`;
  view.replaceChildren(chartNode('roofline', { title, x: 'arithmetic intensity, FLOP per byte', y: 'TFLOPS', lines, dots }),
    make('p', { className: 'soft' }, `A dot is an operator at its estimated rate, with its interval. Its size is its share of the time. A hollow dot has only a lower bound. Operators below 1% of the time are left out. Click a dot for its formula; zoom with Ctrl and the wheel.${stepNote()}`),
    make('div', { id: 'details' }));
  if (chosen) details();
}

function choose(answer, operator) {
  chosen = { device: answer.device, name: operator.name };
  details();
}

const SHAPE_AFTER = ['operator', 'weights'];

// The dimensions of an operator of a model, which stand between these keys.
function shapeOf(o) {
  const keys = Object.keys(o);
  return keys.slice(keys.indexOf(SHAPE_AFTER[0]) + 1, keys.indexOf(SHAPE_AFTER[1]));
}

function details() {
  const answer = answers.find((a) => a.device === chosen.device) ?? answers[0];
  const o = operatorsOf(answer.step).find((x) => x.name === chosen.name);
  const box = byId('details');
  if (!o || !box) return;
  const inputs = { operator: o.operator, hardware: answer.inputs.hardware, set: answer.inputs.set, stack: answer.inputs.stack, why: true,
    weights: o.weights, activations: o.activations, kv: o.kv, out: o.out, compute: o.compute_precision };
  const vector = !['gemm', 'gemv', 'bmm', 'moe', 'attention', 'flash-attention', 'mla-decode', 'mla-prefill', 'attention-scores', 'attention-values'].includes(o.operator);
  if (vector) delete inputs.compute;
  for (const key of shapeOf(o)) inputs[key] = o[key];
  for (const key of Object.keys(inputs)) if (inputs[key] === undefined) delete inputs[key];
  const bytes = [['weights', o.weights_bytes], ['activations', o.activations_bytes], ['output', o.out_bytes], ['KV cache', o.kv_bytes]].filter(([, v]) => v > 0);
  ask([{ command: 'predict', format: 'text', inputs }], (_, { status, text, message }) => {
    box.replaceChildren(make('h3', {}, `${o.name} on ${deviceName(answer.device)}`),
      make('div', { className: 'bar', role: 'img', 'aria-label': bytes.map(([n, v]) => `${n} ${short(v)} bytes`).join(', ') },
        ...bytes.map(([name, v], i) => make('i', { title: `${name}: ${short(v)} bytes`, style: `width:${(100 * v) / o.bytes}%;background:${COLORS[i]}` }))),
      make('p', { className: 'soft' }, `Bytes: ${bytes.map(([n, v]) => `${n} ${short((100 * v) / o.bytes)}%`).join(', ')}`),
      make('pre', { tabIndex: 0 }, status === 0 ? text : message), copyButton('Copy its command', () => commandLine('predict', inputs)));
  }, () => {});
}

let order = { key: 'share', down: true };
let filter = '';

function viewOperators(view) {
  const answer = answers.find((a) => a.device === chosen?.device) ?? answers[0];
  const operators = operatorsOf(answer.step);
  const total = operators.reduce((sum, o) => sum + timeOf(o) * o.count, 0);
  const columns = [['name', 'operator', (o) => o.name], ['count', 'count', (o) => o.count], ['formats', 'formats', (o) => (o.weights === o.activations ? o.weights : `${o.weights}, ${o.activations}`)], ['intensity', 'FLOP/byte', (o) => o.arithmetic_intensity],
    ['bound', 'bound, µs', (o) => o.time_us], ['expected', 'estimate, µs', (o) => o.expected_time_us], ['share', 'share, %', (o) => Number(((100 * timeOf(o) * o.count) / total).toFixed(1))],
    ['limit', 'limited by', (o) => o.expected_bottleneck ?? o.bottleneck], ['shape', 'shape', (o) => shapeOf(o).filter((k) => o[k] !== 0 && o[k] !== false).map((k) => (o[k] === true ? k : `${k} ${o[k]}`)).join(', ')]];
  const value = columns.find(([id]) => id === order.key)[2];
  const rows = operators.filter((o) => `${o.name} ${o.operator}`.includes(filter)).sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    const by = typeof x === 'string' || typeof y === 'string' ? String(x).localeCompare(String(y)) : (x ?? -1) - (y ?? -1);
    return order.down ? -by : by;
  });
  const search = make('input', { type: 'search', id: 'search', value: filter, 'aria-label': 'Search operators', placeholder: 'search', oninput: (e) => { filter = e.target.value.trim(); viewOperators(view); const again = byId('search'); again.focus(); again.setSelectionRange(filter.length, filter.length); } });
  const which = make('select', { 'aria-label': 'Device', onchange: (e) => { chosen = { ...chosen, device: e.target.value }; viewOperators(view); } }, ...answers.map((a) => make('option', { value: a.device, selected: a === answer }, deviceName(a.device))));
  const cell = (o, [id, , get]) => { const v = get(o); return make('td', { className: typeof v === 'string' ? 'left' : '' }, id === 'name' ? make('button', { type: 'button', onclick: () => { choose(answer, o); byId('details')?.scrollIntoView({ block: 'nearest' }); } }, v) : typeof v === 'string' ? v : short(v)); };
  view.replaceChildren(make('div', { className: 'row no-print' }, search, which, tableButton('operators', view), make('span', { className: 'soft' }, stepNote())),
    wideBox('Operators', make('table', {}, make('thead', {}, make('tr', {}, ...columns.map(([id, label, get]) => make('th', { scope: 'col', className: typeof get(operators[0]) === 'string' ? 'left' : '', 'aria-sort': order.key === id ? (order.down ? 'descending' : 'ascending') : 'none' },
      make('button', { type: 'button', onclick: () => { order = { key: id, down: order.key === id ? !order.down : true }; viewOperators(view); } }, label, order.key === id ? (order.down ? ' ↓' : ' ↑') : ''))))),
    make('tbody', {}, ...rows.map((o) => make('tr', { className: chosen?.name === o.name ? 'chosen' : '' }, ...columns.map((c) => cell(o, c))))))),
    make('div', { id: 'details' }));
  if (chosen?.name) details();
}

// --- the graph of a layer -------------------------------------------------------------------------

const BOX = { width: 220, least: 150, height: 42, between: 28, beside: 12, margin: 62, lane: 9 };

// A box for each name, since layers that differ may have operators of one name; its row is below
// those of all that it reads.
function boxesOf(operators) {
  const boxes = new Map();
  for (const o of operators) boxes.set(o.name, { name: o.name, operators: [...(boxes.get(o.name)?.operators ?? []), o] });
  const named = (box, key) => [...new Set(box.operators.flatMap((o) => o[key] ?? []))].map((name) => boxes.get(name)).filter(Boolean);
  for (const box of boxes.values()) Object.assign(box, { above: named(box, 'reads'), before: named(box, 'reads_before') });
  const rowOf = (box) => (box.row ??= 1 + Math.max(-1, ...box.above.map(rowOf)));
  boxes.forEach(rowOf);
  return [...boxes.values()];
}

// Places the boxes row by row; returns how wide and how high all of them are, wider than the room
// where their texts need it.
function placeBoxes(boxes, room) {
  const rows = 1 + Math.max(...boxes.map((b) => b.row));
  const most = Math.max(...Array.from({ length: rows }, (_, row) => boxes.filter((b) => b.row === row).length));
  const width = Math.max(Math.min(room, WIDTH), 2 * BOX.margin + most * (BOX.least + BOX.beside));
  for (let row = 0; row < rows; row += 1) {
    const own = boxes.filter((b) => b.row === row);
    const each = Math.min(BOX.width, (width - 2 * BOX.margin + BOX.beside) / own.length - BOX.beside);
    const left = (width - own.length * (each + BOX.beside) + BOX.beside) / 2;
    own.forEach((b, i) => Object.assign(b, { x: left + i * (each + BOX.beside), y: 4 + row * (BOX.height + BOX.between), width: each }));
  }
  return { width, height: 8 + rows * BOX.height + (rows - 1) * BOX.between };
}

// Arrows to the next row go straight; others go around, on the right, and to the next layer on the
// left. Each of these has a lane of its own among those that it meets.
function arrowsOf(boxes) {
  const lanes = { right: [], left: [] };
  const edges = [Math.min(...boxes.map((b) => b.x)), Math.max(...boxes.map((b) => b.x + b.width))];
  const laneOf = (side, top, bottom) => {
    const free = lanes[side].findIndex((taken) => taken.every(([t, b]) => b < top || t > bottom));
    const lane = free < 0 ? lanes[side].push([]) - 1 : free;
    lanes[side][lane].push([top, bottom]);
    return 16 + (lane % 5) * BOX.lane;
  };
  const around = (from, to, side) => {
    const [y1, y2] = [from.y + BOX.height / 2 + 4, to.y + BOX.height / 2 - 4];
    const lane = laneOf(side, Math.min(from.row, to.row), Math.max(from.row, to.row));
    return side === 'right' ? `M${from.x + from.width} ${y1}H${edges[1] + lane}V${y2}H${to.x + to.width}` : `M${from.x} ${y1}H${edges[0] - lane}V${y2}H${to.x}`;
  };
  const straight = (from, to) => {
    const [x1, x2] = [from.x + from.width / 2, to.x + to.width / 2], y1 = from.y + BOX.height;
    return `M${x1} ${y1}C${x1} ${y1 + BOX.between / 2} ${x2} ${to.y - BOX.between / 2} ${x2} ${to.y}`;
  };
  return boxes.flatMap((to) => [...to.above.map((from) => ({ from, to, path: to.row === from.row + 1 ? straight(from, to) : around(from, to, 'right') })),
    ...to.before.map((from) => ({ from, to, next: true, path: around(from, to, 'left') }))]);
}

function boxNode(box, answer, total) {
  const [first] = box.operators;
  const time = box.operators.reduce((sum, o) => sum + timeOf(o) * o.count, 0), count = box.operators.reduce((sum, o) => sum + o.count, 0);
  const limit = first.expected_bottleneck ?? first.bottleneck;
  const said = `${milliseconds(time / count)}${count > 1 ? ` × ${count}` : ''}, ${time < total / 1000 ? 'under 0.1' : ((100 * time) / total).toFixed(1)}%`;
  const reads = [...box.above.map((b) => b.name), ...box.before.map((b) => `${b.name} of the layer before`)].join(', ');
  const node = svgNode('g', { class: 'point box', tabindex: 0, role: 'button', 'aria-label': `${box.name} ${said}, limited by ${limit}${reads ? `; reads ${reads}` : ''}` });
  const middle = box.x + box.width / 2;
  node.append(svgNode('title', {}, `${box.name}\n${said}, limited by ${limit}${reads ? `\nreads ${reads}` : ''}`),
    svgNode('rect', { x: box.x, y: box.y, width: box.width, height: BOX.height, rx: 5, fill: 'var(--ground)', stroke: `var(--${limit})`, 'stroke-width': 2 }),
    svgNode('text', { x: middle, y: box.y + 17, 'text-anchor': 'middle', 'font-weight': 600 }, `${box.name} `), svgNode('text', { class: 'tick', x: middle, y: box.y + 33, 'text-anchor': 'middle' }, said));
  return onChoose(node, () => choose(answer, first));
}

// The operators of a layer, and what each of them reads.
function viewLayer(view) {
  const [answer] = answers;
  const operators = operatorsOf(answer.step);
  const boxes = boxesOf(operators);
  const { width, height } = placeBoxes(boxes, view.clientWidth);
  const title = `Operators of ${byId('question').textContent}`;
  const svg = svgNode('svg', { viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': title, style: `min-width:${Math.min(width, WIDTH)}px` });
  const head = svgNode('marker', { id: 'head', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' });
  head.append(svgNode('path', { d: 'M0 0L8 4L0 8z', fill: 'var(--soft)' }));
  const arrows = arrowsOf(boxes).map(({ from, to, next, path }) => svgNode('path', { class: 'arrow', d: path, fill: 'none', stroke: 'var(--soft)', 'stroke-width': 1.5,
    'stroke-dasharray': next ? '5 4' : 'none', 'marker-end': 'url(#head)', 'data-from': from.name, 'data-to': to.name }));
  const total = operators.reduce((sum, o) => sum + timeOf(o) * o.count, 0);
  svg.append(svgNode('title', {}, title), head, ...arrows, ...boxes.map((box) => boxNode(box, answer, total)));
  view.replaceChildren(make('p', { className: 'soft' }, `On ${deviceName(answer.device)}: a box has the time of an operator, how often it runs, and its share of the time; the colour is the bottleneck (`,
    ...['memory', 'compute', 'network', 'overhead'].flatMap((limit, i) => [i > 0 ? ', ' : '', make('span', { className: 'dot', style: `background:var(--${limit})` }), ` ${limit}`]),
    `). An arrow leads to an operator that reads the result, a dashed arrow to the next layer. Click a box for its formula.${stepNote()}`), wideBox('Graph', svg), imageButtons('layer', svg), make('div', { id: 'details' }));
  if (chosen) details();
}

function rowsOf(csv) {
  const [head, ...lines] = csv.trim().split('\n').map((l) => l.split(','));
  return lines.map((line) => Object.fromEntries(head.map((key, i) => [key, line[i] === '' ? undefined : Number.isNaN(Number(line[i])) ? line[i] : Number(line[i])])));
}

const BATCHES = '1:1024:x2';

function sweepInputs(answer, more) {
  const inputs = { ...answer.inputs, ...more };
  for (const key of LIMITS) delete inputs[key];
  return inputs;
}

// Latency over the batch at some contexts, and over the context at the batch of the question.
const CURVES = [
  { kind: 'batch', x: 'batch', label: 'batch, sequences', by: 'context', over: () => ({ batch: BATCHES, context: [1024, 8192, 65536] }) },
  { kind: 'context', x: 'context', label: 'context, tokens', by: 'batch', over: () => ({ batch: [state.batch], context: '256:131072:x2' }) },
];

function latencyChart({ kind, x, label, by }, rowsOfAnswers, [time, unit]) {
  const lines = rowsOfAnswers.flatMap((rows, i) => [...new Set(rows.map((r) => r[by]))].map((value, c) => {
    const name = `${deviceName(answers[i].device)}, ${by} ${value.toLocaleString('en-US')}`;
    return { name, legend: name, color: answers[i].color, dash: [undefined, '7 4', '2 3'][c], points: rows.filter((r) => r[by] === value).map((r) => [r[x], r[`expected_${time}`] ?? r[time]]) };
  }));
  const dots = lines.flatMap((l) => l.points.map(([at, y]) => ({ x: at, y, size: 3, color: l.color, name: '', note: `${l.name}, ${x} ${at}: ${short(y)} ms` })));
  return lines.length === 0 ? make('p', {}, `No ${x} fits in memory.`) : chartNode(kind, { title: `Latency over ${x}: ${byId('question').textContent}`, x: label, y: unit, lines, dots });
}

function viewBatch(view) {
  const time = state.phase === 'prefill' ? ['ttft_ms', 'ms to the first token'] : ['tpot_ms', 'ms per token'];
  const found = CURVES.map(() => answers.map(() => []));
  view.replaceChildren(make('p', { className: 'soft' }, 'Asking …'));
  ask(CURVES.flatMap((curve) => answers.map((a) => ({ command: 'sweep', format: 'csv', inputs: sweepInputs(a, { ...curve.over(), columns: `batch,context,fits,${time[0]},expected_${time[0]}` }) }))), (i, { status, text, message }) => {
    if (status !== 0) showError(message);
    else found[Math.floor(i / answers.length)][i % answers.length] = rowsOf(text).filter((r) => r.fits !== 0);
  }, () => view.replaceChildren(...CURVES.map((curve, c) => latencyChart(curve, found[c], time)), make('p', { className: 'soft' }, 'A line ends at the last point that fits in memory.')));
}

// tokens/s of a user against tokens/s of a device, over the batch.
function viewPareto(view) {
  const lines = [], dots = [];
  view.replaceChildren(make('p', { className: 'soft' }, 'Asking …'));
  const columns = 'batch,devices,fits,tokens_per_s,tokens_per_s_per_user,expected_tokens_per_s,expected_tokens_per_s_per_user';
  ask(answers.map((a) => ({ command: 'sweep', format: 'csv', inputs: sweepInputs(a, { batch: BATCHES, columns, ...(state.run === 'pass' ? { phase: 'decode' } : {}) }) })), (i, { status, text, message }) => {
    if (status !== 0) { showError(message); return; }
    const rows = rowsOf(text).filter((r) => r.fits !== 0 && (r.expected_tokens_per_s ?? r.tokens_per_s) !== undefined);
    const points = rows.map((r) => ({ x: r.expected_tokens_per_s_per_user ?? r.tokens_per_s_per_user, y: (r.expected_tokens_per_s ?? r.tokens_per_s) / r.devices, batch: r.batch }));
    lines.push({ name: deviceName(answers[i].device), legend: deviceName(answers[i].device), color: answers[i].color, points: points.map((p) => [p.x, p.y]) });
    dots.push(...points.map((p) => ({ ...p, size: 4, color: answers[i].color, name: String(p.batch), note: `${deviceName(answers[i].device)}, batch ${p.batch}: ${short(p.x)} tokens/s per user, ${short(p.y)} per device`, choose: () => change({ batch: String(p.batch) }) })));
  }, () => view.replaceChildren(dots.length === 0 ? make('p', {}, 'No batch fits.') : chartNode('pareto', { title: `Throughput over speed per user: ${byId('question').textContent}`, x: 'tokens/s per user', y: 'tokens/s per device', lines, dots }),
    make('p', { className: 'soft' }, 'Each dot is a batch; click it to choose it.')));
}

function planInputs() {
  const base = answers[0].inputs;
  const inputs = { model: base.model, hardware: state.hardware.map((d) => (d.startsWith('{') ? JSON.parse(d) : d)), prompt: state.prompt, generate: state.generate, ...extraOf(state, 'recommend'), ...given(state, LIMITS), ...given(state, SPLIT) };
  if (state.kv) inputs.kv = state.kv;
  return inputs;
}

function viewPlans(view) {
  const inputs = planInputs();
  view.replaceChildren(make('p', { className: 'soft' }, 'Searching …'));
  ask([{ command: 'recommend', format: 'json', inputs }], (_, { status, text, message }) => {
    if (text === '') { view.replaceChildren(make('p', {}, message)); return; }
    const document_ = JSON.parse(text);
    const plans = document_.candidates.slice(0, 30);
    const fixed = Object.entries(given(state, SPLIT)).map(([key, value]) => `${key.replaceAll('_', ' ')} ${value}`);
    const held = fixed.length > 0 ? ` All have ${fixed.join(', ')}, as in the form.` : '';
    const columns = [['hardware', (p) => p.hardware], ['formats', (p) => p.formats], ['KV', (p) => p.kv], ['devices', (p) => p.devices], ['copies', (p) => p.dp], ['tp', (p) => p.tp], ['pp', (p) => p.pp], ['ep', (p) => p.ep], ['batch', (p) => p.batch],
      ['first token, ms', (p) => p.expected_ttft_ms ?? p.ttft_ms], ['per token, ms', (p) => p.expected_tpot_ms ?? p.tpot_ms], ['tokens/s', (p) => p.expected_tokens_per_s ?? p.tokens_per_s],
      ...(inputs.price_per_hour ? [['cost per million tokens', (p) => p.cost_per_million_tokens]] : []), ['accuracy loss', (p) => p.accuracy_loss], ['engines', (p) => p.engines ?? 'none known'], ['by', (p) => (p.basis === 'expected' ? 'estimate' : 'bound')]];
    view.replaceChildren(
      make('p', {}, status === 0 ? `${document_.count} plans keep the limits; the best is first.${held}` : 'No plan keeps the limits. This is the report of the program:'),
      plans.length === 0 ? '' : wideBox('Plans', make('table', { className: 'tight' }, make('thead', {}, make('tr', {}, make('th', {}, 'plan'), ...columns.map(([label, get]) => make('th', { scope: 'col', className: typeof get(plans[0]) === 'string' ? 'left' : '' }, label)))),
        make('tbody', {}, ...plans.map((p) => make('tr', {}, make('td', {}, make('button', { type: 'button', title: 'Ask about this plan', onclick: () => change({ hardware: [state.hardware.find((d) => deviceName(d) === p.hardware) ?? p.hardware], run: 'request', batch: String(p.batch), precision: p.formats, kv: p.kv, stack: p.stack ?? '', view: 'roofline',
          ...Object.fromEntries(['tp', 'pp', 'attention_dp', 'moe_tp', 'moe_ep', 'draft_tokens'].map((key) => [key, p[key] > 1 || (key === 'draft_tokens' && p[key] > 0) ? String(p[key]) : ''])), ep: '' }) }, `Plan ${p.rank ?? ''}`)),
          ...columns.map(([, get]) => { const v = get(p); return make('td', { className: typeof v === 'string' ? 'left' : '' }, typeof v === 'string' ? v : short(v)); })))))),
      make('div', { className: 'row no-print' }, copyButton('Copy the command', () => commandLine('recommend', { ...inputs, hardware: state.hardware.map(deviceName).join(',') })), plans.length === 0 ? '' : tableButton('plans', view)));
    if (status !== 0) ask([{ command: 'recommend', format: 'text', inputs }], (__, reply) => view.append(make('pre', { tabIndex: 0 }, reply.text || reply.message)), () => {});
  }, () => {});
}

// --- load -----------------------------------------------------------------------------------------

const LOAD_COLUMNS = ['rate_per_s', 'completed_per_s', 'tokens_per_s', 'ttft_ms_p50', 'ttft_ms_p99', 'tpot_ms_p50', 'tpot_ms_p99', 'e2e_ms_p50', 'e2e_ms_p99', 'running', 'kv_use', 'saturated'];
const LOAD_HEADS = ['requests/s', 'completed/s', 'tokens/s', 'first token p50, ms', 'p99', 'per token p50, ms', 'p99', 'request p50, ms', 'p99', 'running', 'KV cache, %', 'load'];
// The rates of a curve, as shares of the greatest.
const SHARES = [0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 0.97, 1.05];

function loadInputs(answer, more) {
  const { model, hardware, set } = answer.inputs;
  const inputs = { model, hardware, ...(set ? { set } : {}), ...(hasEstimate(answer.prediction) ? {} : { by: 'ideal' }), ...extraOf(state, 'simulate'), prompt: state.prompt_lengths || state.prompt, generate: state.generate_lengths || state.generate,
    ...given(state, [...PASSED_ON, ...SPLIT, 'engine', 'arrivals', 'max_num_seqs', 'prefill_copies', 'prefill_split']), requests: state.requests || '1000', ...more };
  for (const key of Object.keys(inputs)) if (inputs[key] === undefined) delete inputs[key];
  return inputs;
}

// The rate that an engine cannot exceed: what it completes with as many requests in flight as run at once.
const fullInputs = (answer) => loadInputs(answer, { concurrency: state.max_num_seqs || '256', arrivals: undefined, requests: undefined });
// The greatest rate that keeps the limits.
const limits = () => given(state, ['max_ttft', 'max_tpot', 'max_e2e']);
const closed = () => !state.rate && Boolean(state.concurrency);
const asksLoad = () => Boolean(state.rate) || closed() || Object.keys(limits()).length > 0;
const askedInputs = (answer) => loadInputs(answer, { ...limits(), ...given(state, ['rate']), ...(closed() ? { concurrency: state.concurrency, arrivals: undefined } : {}), requests: state.requests || undefined });

// The curves of latency over the rate, of each device, and what the program says about the rate of the question.
function viewLoad(view) {
  const found = answers.map((answer) => ({ answer, most: NaN, rows: [] }));
  const asks = asksLoad();
  let failure = '';
  view.replaceChildren(make('p', { className: 'soft' }, 'Asking …'));
  ask(found.flatMap(({ answer }) => [{ command: 'simulate', format: 'json', inputs: fullInputs(answer) }, ...(asks ? [{ command: 'simulate', format: 'json', inputs: askedInputs(answer) }] : [])]), (i, { text, message }) => {
    const f = found[Math.floor(i / (asks ? 2 : 1))];
    if (text === '') { failure = message; return; }
    const said = JSON.parse(text);
    if (asks && i % 2 === 1) { f.asked = said; f.most = Math.max(f.most, said.max_rate_per_s ?? 0); } else f.most = said.completed_per_s;
  }, () => {
    const good = found.filter((f) => usable(f.most));
    const requests = good.flatMap((f) => SHARES.map((share) => ({ f, inputs: loadInputs(f.answer, { rate: String(Number((f.most * share).toPrecision(4))), columns: LOAD_COLUMNS.join(',') }) })));
    if (requests.length === 0) { view.replaceChildren(make('p', {}, failure || 'No request can be served.')); return; }
    ask(requests.map(({ inputs }) => ({ command: 'simulate', format: 'csv', inputs })), (i, { text, message }) => {
      if (text === '') failure = message; else requests[i].f.rows.push(...rowsOf(text));
    }, () => showLoad(view, good, failure));
  });
}

function loadChart(found, [key, label]) {
  const lines = [], dots = [];
  for (const { answer, rows, asked } of found) {
    const name = deviceName(answer.device);
    for (const [part, dash] of [['p50', undefined], ['p99', '7 4']]) {
      const points = rows.map((r) => [r.rate_per_s, r[`${key}_${part}`]]);
      lines.push({ name: `${name}, ${part}`, legend: `${name}, ${part}`, color: answer.color, dash, points });
      dots.push(...points.map(([x, y]) => ({ x, y, size: 3, color: answer.color, name: '', note: `${name}, ${short(x)} requests/s: ${part} ${short(y)} ms` })));
      const at = asked && { x: asked.max_rate_per_s ?? asked.rate_per_s ?? asked.completed_per_s, y: asked[`${key}_${part}`] };
      if (at) dots.push({ ...at, size: 7, open: true, color: answer.color, name: part === 'p99' ? `${short(at.x)}/s` : '', note: `${name}, ${short(at.x)} requests/s, as asked: ${part} ${short(at.y)} ms` });
    }
  }
  return chartNode(`load-${key}`, { title: `${label} over the load: ${byId('question').textContent}`, x: 'requests per second', y: `${label}, ms`, lines, dots });
}

function showLoad(view, found, failure) {
  const rows = found.flatMap((f) => [...(f.asked ? [{ ...f.asked, device: f.answer.device, asked: true }] : []), ...f.rows.map((r) => ({ ...r, device: f.answer.device }))]);
  const cell = (r, key) => (key === 'saturated' ? (r[key] ? 'saturated' : '') : short(key === 'kv_use' ? 100 * r[key] : r[key]));
  view.replaceChildren(
    make('p', {}, ...found.flatMap(({ answer, most, asked }, i) => [i > 0 ? make('br') : null, make('strong', {}, deviceName(answer.device)),
      `: ${asked?.max_rate_per_s === undefined ? '' : `${short(asked.max_rate_per_s)} requests/s keep the limits${(asked.raises ?? []).length === 0 ? ''
        : ` (${asked.raises.map((r) => `${r.key} ${r.value}${r.with ? ` ${r.with.key} ${r.with.value}` : ''}: about x${short(Number(r.factor.toPrecision(r.factor_low === undefined ? 1 : 2)))}${r.factor_low === undefined ? '' : `, ${short(Number(r.factor_low.toPrecision(2)))} to ${short(Number(r.factor_high.toPrecision(2)))}`}`).join('; ')})`}, `}`,
      `about ${short(most)} requests/s at most${hasEstimate(answer.prediction) ? '' : ' (lower bounds; no measured kernels)'}`])),
    loadChart(found, ['ttft_ms', 'time to first token']), loadChart(found, ['tpot_ms', 'time per token']),
    make('p', { className: 'soft' }, `Requests arrive at random and wait for each other. Each dot is a simulation of ${state.requests || '1000'} requests, with prompts of ${state.prompt_lengths || state.prompt} tokens and ${state.generate_lengths || state.generate} generated tokens. ` +
      'Half of the requests are faster than p50, and 1% are slower than p99. A rate (under Load) or limits such as 1s or p99:1s (under Limits and engine) mark a point on the curves.'),
    failure ? make('p', {}, failure) : '',
    wideBox('Load', make('table', {}, make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'device'), ...LOAD_HEADS.map((h) => make('th', { scope: 'col' }, h)))),
      make('tbody', {}, ...rows.map((r) => make('tr', { className: r.asked ? 'chosen' : '' }, make('td', {}, `${deviceName(r.device)}${r.asked ? ', as asked' : ''}`), ...LOAD_COLUMNS.map((key) => make('td', {}, cell(r, key)))))))),
    make('div', { className: 'row no-print' }, copyButton('Copy the command', () => commandLine('simulate', asksLoad() ? askedInputs(answers[0]) : fullInputs(answers[0]))), tableButton('load', view)));
}

// --- what would help ------------------------------------------------------------------------------

// The opportunities of a report in Markdown: phases with rows of cells.
function opportunitiesOf(report) {
  const [, section = ''] = report.split('\n## Opportunities\n');
  return section.split('\n## ')[0].split('\n### ').slice(1).map((part) => {
    const [phase, ...lines] = part.split('\n');
    const [head, , ...rows] = lines.filter((l) => l.startsWith('|')).map((l) => l.split(/(?<!\\)\|/).slice(1, -1).map((c) => c.trim().replace(/\\(.)/g, '$1')));
    return { phase, head, rows };
  });
}

const helpRequest = (answer) => ({ command: 'predict', format: 'md', inputs: answer.inputs });

function viewHelp(view) {
  const blocks = [];
  view.replaceChildren(make('p', { className: 'soft' }, 'Asking …'));
  ask(answers.map(helpRequest), (i, { text, message }) => {
    const phases = opportunitiesOf(text);
    blocks.push(make('h2', {}, deviceName(answers[i].device)), ...(phases.length === 0 ? [make('p', {}, message || 'No change is known.')] : phases.flatMap(({ phase, head, rows }) => [make('h3', {}, phase),
      wideBox(`${phase} on ${deviceName(answers[i].device)}`, make('table', {}, make('thead', {}, make('tr', {}, ...head.map((h, k) => make('th', { scope: 'col', className: k === head.length - 1 ? 'left' : '' }, h)))),
        make('tbody', {}, ...rows.map((cells) => make('tr', {}, ...cells.map((c, k) => make('td', { className: k === 0 || k === cells.length - 1 ? 'left' : '' }, c)))))))])));
  }, () => view.replaceChildren(make('p', { className: 'soft' }, 'Each row is one change, with all else unchanged. The gain is in tokens/s of all sequences.'), ...blocks));
}

// The line of a card: the changes that gain most, other than a larger batch.
function showHelp(answer, report) {
  const node = byId(`help-${answers.indexOf(answer)}`);
  const phases = opportunitiesOf(report);
  const { head = [], rows = [] } = phases.find(({ phase }) => phase.toLowerCase() === state.phase) ?? phases[0] ?? {};
  // What does not fit is helped by what makes it fit.
  const tight = answer.prediction.fits === false;
  const fits = (note) => /\bfits\b/.test(note) && !/not fit/.test(note);
  const gains = rows.map((cells) => [cells[0], ['expected', 'bound', 'gain'].map((h) => cells[head.indexOf(h)] ?? '').find((gain) => parseFloat(gain) > 0), cells.at(-1)])
    .filter(([change_, gain, note]) => !/^(batch|\()/.test(change_) && (tight ? fits(note) : parseFloat(gain) >= 1.05));
  if (node && gains.length > 0) node.replaceChildren(tight ? 'would fit: ' : 'would help: ', gains.slice(0, 2).map(([change_, gain]) => `${change_} (${gain})`).join('; '));
}

function viewFormats(view) {
  const { precision, weights, activations, ...inputs } = answers[0].inputs;
  view.replaceChildren(make('p', { className: 'soft' }, 'Asking …'));
  ask([{ command: 'recommend', format: 'text', inputs }], (_, { text, message }) => view.replaceChildren(make('pre', { tabIndex: 0 }, text || message), copyButton('Copy the command', () => commandLine('recommend', inputs))), () => {});
}

function viewSpeedup(view) {
  if (answers.length < 2) {
    view.replaceChildren(make('p', {}, 'Add a second device. This view then explains the difference between the first two.'));
    return;
  }
  const [a, b] = answers;
  const { hardware, ...rest } = a.inputs;
  const inputs = { ...rest, explain: `${deviceName(a.device)},${deviceName(b.device)}` };
  view.replaceChildren(make('p', { className: 'soft' }, 'Asking …'));
  const bars = (d) => {
    const estimated = d.expected_from_us !== undefined;
    const parts = ['memory', 'compute', 'network', 'launch', 'kernels'].map((key) => [key, d[`${estimated ? 'expected_' : ''}${key}_saved_us`]]).filter(([, v]) => Math.abs(v ?? 0) > 1e-4 * Math.abs(estimated ? d.expected_from_us : d.from_us));
    const most = Math.max(...parts.map(([, v]) => Math.abs(v)), 1e-9);
    return make('table', { className: 'tight' }, make('thead', {}, make('tr', {}, ...['cause', 'saved', 'share'].map((t) => make('th', { scope: 'col', className: 'left' }, t)))),
      make('tbody', {}, ...parts.map(([key, v]) => make('tr', {}, make('td', {}, key), make('td', {}, `${v < 0 ? '−' : ''}${milliseconds(Math.abs(v))}`),
        make('td', { className: 'left' }, make('span', { className: 'bar', style: 'width:min(16rem, 30vw)' }, make('i', { style: `width:${(100 * Math.abs(v)) / most}%;background:var(--${v < 0 ? 'c4' : 'c2'})` })))))));
  };
  ask([{ command: 'predict', format: 'json', inputs }, { command: 'predict', format: 'text', inputs }], (i, { status, text, message }) => {
    if (status !== 0) view.replaceChildren(make('p', {}, message));
    else if (i === 0) {
      const d = JSON.parse(text);
      view.replaceChildren(make('p', {}, make('span', { className: 'big' }, `${short(d.expected_speedup ?? d.speedup)}x`), ` from ${d.from} to ${d.to}${d.expected_speedup ? ` (lower bounds: ${short(d.speedup)}x)` : ', by lower bounds'}`), bars(d));
    } else view.append(make('pre', { tabIndex: 0 }, text), copyButton('Copy the command', () => commandLine('predict', inputs)));
  }, () => {});
}

function viewReport(view) {
  const { inputs } = answers[0];
  const name = `${deviceName(state.about === 'model' ? state.model : state.operator)}-${deviceName(answers[0].device)}`;
  const get = (format, extension) => make('button', { type: 'button', onclick: () => ask([{ command: 'predict', format, inputs }], (_, r) => (r.status === 0 ? download(`${name}.${extension}`, 'text/plain', r.text) : showError(r.message)), () => {}) }, extension.toUpperCase());
  const shown = make('pre', { tabIndex: 0 });
  view.replaceChildren(make('div', { className: 'row' }, copyButton('Copy the command', () => commandLine('predict', inputs)), copyButton('Copy a link', () => location.href), copyButton('Copy the inputs', () => JSON.stringify(inputs)),
    ' Save: ', get('json', 'json'), get('csv', 'csv'), get('md', 'md'), get('text', 'txt')), make('p', {}, make('code', {}, commandLine('predict', inputs))), shown);
  ask([{ command: 'predict', format: 'text', inputs }], (_, { text, message }) => { shown.textContent = text || message; }, () => {});
}
