// SPDX-License-Identifier: MIT
// The page of a chart. Nothing is computed here: figures are texts of the program, and sliders
// choose among what it predicted. Text from outside reaches the document as text only.
(() => {
'use strict';

const $ = id => document.getElementById(id);
const data = JSON.parse($('data').textContent);
const named = (keys, list) => Object.fromEntries(keys.map((key, i) => [key, list[i]]));
const rows = data.rows.map(row => named(data.row_keys, row));
const sized = data.batch !== undefined;

const state = {
    batch: sized ? data.batch.at : 0,
    context: sized ? data.context.at : 0,
    groups: new Set(data.groups.keys()),
    roofs: new Set(data.roofs.keys()),
    formats: new Set(),
    expected: data.expected,
    sort: {key: 'share', down: true},
    rows: 100, // of the table
};
let visible = [];  // dots that the state asks for, those that take most time first
let drawn = [];    // where they stand: {dot, x, y, size}, in pixels of the plot
let marked = null; // the dot that is pointed at
let pinned = false;

// An element with properties and children; strings become text.
function make(name, properties, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
        if (key in element && key !== 'style') element[key] = value;
        else element.setAttribute(key, value);
    }
    element.append(...children.filter(child => child !== null && child !== undefined));
    return element;
}

/* --- marks ------------------------------------------------------------------------------- */

const corners = (n, turn, radius = 1) => Array.from({length: n}, (_, i) => {
    const angle = (turn + i / n) * 2 * Math.PI;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
});
const plus = (a => [[-a, -1], [a, -1], [a, -a], [1, -a], [1, a], [a, a], [a, 1], [-a, 1], [-a, a],
                    [-1, a], [-1, -a], [-a, -a]])(0.36);
// As polygons around 0, about equally large.
const shapes = [corners(32, 0), corners(4, 0.125, 1.22), corners(3, -0.25, 1.35),
                corners(4, 0, 1.3), corners(3, 0.25, 1.35), plus, corners(5, -0.25, 1.15)];
const COLOURS = 7;

// With several devices a colour is a device, and a shape a group; else both are a group.
const several = data.roofs.length > 1;
const shapeOf = dot => shapes[dot.group % shapes.length];
const slot = dot => several ? dot.roof : dot.group + Math.floor(dot.group / shapes.length);
const variable = dot => `var(--c${slot(dot) % COLOURS})`;

function icon(shape, colour, size = 12) {
    const ns = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(ns, 'svg');
    const polygon = document.createElementNS(ns, 'polygon');
    svg.setAttribute('viewBox', '-1.4 -1.4 2.8 2.8');
    svg.setAttribute('width', size);
    svg.setAttribute('height', size);
    svg.setAttribute('aria-hidden', 'true');
    polygon.setAttribute('points', shape.map(point => point.map(v => v.toFixed(3)).join()).join(' '));
    polygon.style.fill = colour;
    svg.append(polygon);
    return svg;
}

/* --- what is shown ------------------------------------------------------------------------ */

const seriesShown = () => data.series.filter(s => state.groups.has(s.group) && state.roofs.has(s.roof));
const pointOf = series =>
    series.points[sized ? state.batch * data.context.values.length + state.context : 0];

function dotsOf(series) {
    const point = pointOf(series);
    if (point === null) return [];
    const seen = new Map(); // operators of one name follow each other
    return point[0].map((at, i) => {
        const row = rows[at];
        const nth = (seen.get(row.name) || 0) + 1;
        seen.set(row.name, nth);
        return {row, share: point[1][i], group: series.group, roof: series.roof,
                key: JSON.stringify([series.group, series.roof, row.name, nth])};
    });
}

const formatsOf = (roof, ceiling) => ceiling.formats.some(format => state.formats.has(format));
const ceilingsOf = roof => roof.ceilings.filter(ceiling => formatsOf(roof, ceiling));
const place = dot => [data.groups[dot.group], data.roofs[dot.roof].id].join(' · ');

// The figures of a dot: [what, value, detail].
function figures(dot) {
    const row = dot.row;
    const all = (total, one) => row.count > 1 && total ? ` × ${row.count} = ${total.replace(' ', '\u00a0')}` : '';
    const list = [
        ['arithmetic intensity', row.intensity],
        ['attainable', row.attainable, row.unit && ` (${row.unit})`],
        ['bound time', row.time, all(row.total)],
        ['limited by', row.bound],
    ];
    if (row.expected) {
        list.push(['expected time', row.expected, all(row.expected_total)],
                  ['band', `${row.low} to ${row.high}`, row.near ? ' (from others like it)' : ''],
                  ['expected limit', row.expected_bound]);
    }
    if (row.measured) list.push(['measured time', row.measured, ` (${row.of_bound} of the bound)`]);
    if (row.reached_rate) list.push([row.measured ? 'measured rate' : 'expected rate', row.reached_rate]);
    if (dot.share !== null) list.push(['share of the time', `${dot.share.toFixed(1)}%`]);
    return list;
}

const ceilingFigures = ceiling => [
    ['formats', ceiling.formats.join(', ')], ['unit', ceiling.unit], ['peak', ceiling.peak],
    ['ridge point', ceiling.ridge]];

/* --- the chart ---------------------------------------------------------------------------- */

const TERA = 1e12;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let colour = {}; // of the theme at hand

function readColours() {
    for (const name of ['ink', 'soft', 'faint', 'grid', 'line', 'panel', 'roof', 'fill']) {
        colour[name] = css(`--${name}`);
    }
    colour.slots = Array.from({length: COLOURS}, (_, i) => css(`--c${i}`));
}
const dotColour = dot => colour.slots[slot(dot) % COLOURS];
const roofColour = i => several ? colour.slots[i % COLOURS] : colour.roof;

// The axes hold all dots of all sizes, so that they rest while sliders move, and of each roof both
// the slope and the ceilings in use.
function findRange() {
    let [left, right, bottom, top] = [Infinity, 0, Infinity, 0];
    for (const row of rows) {
        if (row.x === null) continue;
        left = Math.min(left, row.x / 2);
        right = Math.max(right, row.x * 2);
        bottom = Math.min(bottom, row.y, state.expected || row.measured ? row.reached ?? row.y : row.y);
        top = Math.max(top, row.y);
    }
    for (const roof of data.roofs) {
        const used = roof.ceilings.filter(c => c.formats.some(f => data.used.includes(f)));
        for (const ceiling of used.length > 0 ? used : roof.ceilings) {
            left = Math.min(left, ceiling.x / 6);
            right = Math.max(right, ceiling.x * 5);
            bottom = Math.min(bottom, ceiling.rate);
            top = Math.max(top, ceiling.rate);
        }
    }
    for (const line of data.lines.filter(l => !l.slope)) {
        bottom = Math.min(bottom, line.rate);
        top = Math.max(top, line.rate);
    }
    for (const roof of data.roofs) bottom = Math.min(bottom, roof.rate * left);
    return {x: [left, right], y: [bottom / 1.6 / TERA, top * 2 / TERA]};
}
let range = findRange();

function ticks(least, most) {
    const list = [];
    const steps = Math.log10(most / least) < 2.2 ? [1, 2, 5] : [1];
    for (let e = Math.floor(Math.log10(least)); e <= Math.log10(most); e++) {
        for (const step of steps) list.push(Number(`${step}e${e}`));
    }
    return list.filter(v => v >= least && v <= most);
}
function tickText(v) {
    if (v >= 1e-3 && v < 1e4) return String(v);
    const [digits, exponent] = v.toExponential().split('e');
    const raised = [...exponent.replace('+', '')].map(c => c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]).join('');
    return `${digits === '1' ? '' : digits + '×'}10${raised}`;
}

function axis(scale, label, size) {
    return {scale, label, size, labelSize: 22, gap: 6, font: '12px system-ui, sans-serif',
            labelFont: '12px system-ui, sans-serif', stroke: () => colour.soft,
            grid: {stroke: () => colour.grid, width: 1}, ticks: {stroke: () => colour.line, width: 1, size: 5},
            splits: (u, _, least, most) => ticks(least, most), filter: (u, splits) => splits,
            values: (u, splits) => splits.map(tickText)};
}

const chart = $('chart');
const sizeNow = () => ({width: chart.clientWidth, height: chart.clientHeight});
let plot = null;

function polygon(c, points, x, y, radius) {
    c.beginPath();
    for (const [dx, dy] of points) c.lineTo(x + radius * dx, y + radius * dy);
    c.closePath();
}

const sizeOf = dot => dot.share === null ? 5 : 4 + 11 * Math.sqrt(dot.share / 100);

// Boxes of text that are taken already.
function free(boxes, box) {
    return !boxes.some(b => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3]);
}

function write(c, text, x, y, fill) {
    c.strokeStyle = colour.panel;
    c.lineWidth = 3.5;
    c.lineJoin = 'round';
    c.strokeText(text, x, y);
    c.fillStyle = fill;
    c.fillText(text, x, y);
}

function drawRoof(c, view, i, boxes) {
    const {X, Y, left, right} = view;
    const roof = data.roofs[i];
    const shown = ceilingsOf(roof);
    const top = shown[0];
    if (!top) return;
    const slope = x => Y(roof.rate * x / TERA);
    if (!several) { // what is below the roof can be reached
        c.beginPath();
        c.moveTo(X(left), view.bottom);
        c.lineTo(X(left), slope(left));
        c.lineTo(X(top.x), Y(top.rate / TERA));
        c.lineTo(X(right), Y(top.rate / TERA));
        c.lineTo(X(right), view.bottom);
        c.fillStyle = colour.fill;
        c.fill();
    }
    c.strokeStyle = roofColour(i);
    c.beginPath();
    c.moveTo(X(left), slope(left));
    c.lineTo(X(top.x), Y(top.rate / TERA));
    c.lineWidth = 2;
    c.stroke();
    view.lines.push({roof, slope: roof.rate, to: top.x});
    for (const ceiling of shown) {
        const y = Y(ceiling.rate / TERA);
        c.beginPath();
        c.setLineDash(ceiling.unit === 'vector' ? [6, 4] : []);
        c.moveTo(X(ceiling.x), y);
        c.lineTo(X(right), y);
        c.lineWidth = ceiling === top ? 2 : 1.4;
        c.stroke();
        c.setLineDash([]);
        polygon(c, shapes[0], X(ceiling.x), y, 2.6);
        c.fillStyle = roofColour(i);
        c.fill();
        view.lines.push({roof, ceiling, rate: ceiling.rate, from: ceiling.x});
        const asked = ceiling.formats.filter(format => state.formats.has(format));
        const formats = asked.length > 3 ? `${asked[0]} +${asked.length - 1}` : asked.join(', ');
        const text = `${formats}${ceiling.unit === 'vector' ? ' vector' : ''}  ${ceiling.peak}`;
        view.sides.push({texts: several ? [`${roof.id} ${text}`, text] : [text], y, from: X(ceiling.x), fill: roofColour(i)});
    }
    // The bandwidth runs along the slope.
    const [x0, x1] = [Math.max(X(left), 0), Math.min(X(top.x), view.width)];
    const y0 = slope(left), y1 = Y(top.rate / TERA);
    const angle = Math.atan2(y1 - y0, X(top.x) - X(left));
    const text = `${several ? roof.id + ' ' : ''}${roof.bandwidth}`;
    const wide = c.measureText(text).width;
    const pieces = (x, y) => [-2, -1, 0, 1, 2].map(k => {
        const [bx, by] = [x + k * wide / 4 * Math.cos(angle) + 8 * Math.sin(angle), y + k * wide / 4 * Math.sin(angle) - 10];
        return [bx - wide / 8, by - 7, bx + wide / 8, by + 7];
    });
    for (const share of [0.5, 0.62, 0.38, 0.74, 0.26, 0.86, 0.14]) {
        const x = x0 + (x1 - x0) * share;
        const y = y0 + (y1 - y0) * (x - X(left)) / (X(top.x) - X(left));
        const taken = pieces(x, y);
        if (taken.some(box => !free(boxes, box)) || x - wide / 2 < x0) continue;
        boxes.push(...taken);
        c.save();
        c.translate(x, y);
        c.rotate(angle);
        write(c, text, -wide / 2, -9, roofColour(i));
        c.restore();
        break;
    }
}

function drawLine(c, view, line) {
    const {X, Y, left, right} = view;
    if (line.roof !== null && !state.roofs.has(line.roof)) return;
    const fill = line.roof === null ? colour.slots[3] : roofColour(line.roof);
    c.beginPath();
    c.setLineDash([2, 4]);
    c.strokeStyle = fill;
    c.lineWidth = 1.6;
    const best = Math.max(...data.roofs.map(roof => roof.ceilings[0].rate));
    if (line.slope) {
        c.moveTo(X(left), Y(line.rate * left / TERA));
        c.lineTo(X(best / line.rate), Y(best / TERA));
        view.lines.push({line, slope: line.rate, to: best / line.rate});
    } else {
        const from = Math.min(...data.roofs.map(roof => line.rate / roof.rate));
        c.moveTo(X(from), Y(line.rate / TERA));
        c.lineTo(X(right), Y(line.rate / TERA));
        view.lines.push({line, rate: line.rate, from});
        view.sides.push({texts: [`${line.name}  ${line.text}`], y: Y(line.rate / TERA), from: X(from), fill});
    }
    c.stroke();
    c.setLineDash([]);
}

// Names of ceilings stand above them at the right; where others stand there left of those, below,
// or without the device, which the colour tells.
function drawSides(c, view, boxes) {
    for (const side of view.sides.sort((a, b) => a.y - b.y)) {
        const places = [];
        for (const text of side.texts) {
            const wide = c.measureText(text).width;
            for (const y of [side.y - 6, side.y + 15]) {
                for (let x = view.width - wide - 8; x >= Math.max(side.from - wide / 2, 4); x -= 24) {
                    places.push({text, x, y, box: [x - 6, y - 11, x + wide + 6, y + 4]});
                }
            }
        }
        const at = places.find(one => one.y > 11 && free(boxes, one.box));
        if (!at) continue;
        boxes.push(at.box);
        write(c, at.text, at.x, at.y, side.fill);
    }
}

function placeDots(view, boxes) {
    const {X, Y} = view;
    drawn = visible.filter(dot => dot.row.x !== null).map(dot => ({
        dot, x: X(dot.row.x), y: Y(dot.row.y / TERA), size: sizeOf(dot),
        below: dot.row.reached !== null && (state.expected || dot.row.measured) ? Y(dot.row.reached / TERA) : null}));
    for (const d of drawn) {
        boxes.push([d.x - d.size, d.y - d.size, d.x + d.size, d.y + d.size]);
        if (d.below !== null) boxes.push([d.x - 5, d.below - 5, d.x + 5, d.below + 5]);
    }
}

function drawDots(c, view, boxes) {
    for (const d of drawn) { // the largest first
        c.strokeStyle = c.fillStyle = dotColour(d.dot);
        if (d.below !== null) {
            c.globalAlpha = 0.45;
            c.lineWidth = 1.3;
            c.beginPath();
            c.moveTo(d.x, d.y);
            c.lineTo(d.x, d.below);
            c.stroke();
            c.globalAlpha = 1;
            c.lineWidth = 1.7;
            polygon(c, shapeOf(d.dot), d.x, d.below, Math.max(3, d.size * 0.62));
            c.fillStyle = colour.panel;
            c.fill();
            c.stroke();
            c.fillStyle = c.strokeStyle;
        }
        polygon(c, shapeOf(d.dot), d.x, d.y, d.size);
        c.globalAlpha = 0.5;
        c.fill();
        c.globalAlpha = 1;
        c.lineWidth = 1.7;
        c.stroke();
    }
    let labels = 0;
    for (const d of drawn) {
        if (labels >= 40 || (d.dot.share !== null && d.dot.share < 1.5)) continue;
        const text = d.dot.row.name.length > 34 ? d.dot.row.name.slice(0, 33) + '…' : d.dot.row.name;
        const wide = c.measureText(text).width;
        for (const [dx, dy] of [[1, 0], [-1, 0], [1, -1], [-1, -1], [0, -1.3], [1, 1], [-1, 1], [0, 1.3], [1, -2.2], [-1, -2.2], [1, 2.2], [-1, 2.2]]) {
            const x = d.x + (dx > 0 ? d.size + 5 : dx < 0 ? -d.size - 5 - wide : -wide / 2);
            const y = d.y + dy * (d.size + 5) + 4;
            const box = [x - 2, y - 11, x + wide + 2, y + 4];
            if (box[0] > 0 && box[2] < view.width && box[1] > 0 && box[3] < view.height && free(boxes, box)) {
                boxes.push(box);
                write(c, text, x, y, colour.ink);
                labels++;
                break;
            }
        }
    }
}

let lines = []; // that can be pointed at
function draw(u) {
    const ratio = uPlot.pxRatio;
    const c = u.ctx;
    const view = {X: v => u.valToPos(v, 'x'), Y: v => u.valToPos(v, 'y'),
                  left: u.scales.x.min, right: u.scales.x.max, width: u.bbox.width / ratio,
                  height: u.bbox.height / ratio, bottom: u.bbox.height / ratio, lines: [], sides: []};
    const boxes = [];
    c.save();
    c.beginPath();
    c.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    c.clip();
    c.translate(u.bbox.left, u.bbox.top);
    c.scale(ratio, ratio);
    c.font = '11.5px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
    c.textAlign = 'left';
    c.textBaseline = 'alphabetic';
    placeDots(view, boxes);
    data.roofs.forEach((_, i) => state.roofs.has(i) && drawRoof(c, view, i, boxes));
    data.lines.forEach(line => drawLine(c, view, line));
    drawSides(c, view, boxes);
    drawDots(c, view, boxes);
    c.restore();
    lines = view.lines;
    if (marked) mark(marked.key, true);
}

function makePlot() {
    readColours();
    plot = new uPlot({
        ...sizeNow(),
        legend: {show: false},
        padding: [12, 16, 0, 0],
        cursor: {points: {show: false}, drag: {x: true, y: true, uni: 24}, focus: {prox: -1}},
        scales: {x: {time: false, distr: 3, range: () => range.x}, y: {distr: 3, range: () => range.y}},
        axes: [axis('x', 'Arithmetic intensity (FLOP/byte)', 34), axis('y', 'TFLOP/s', 52)],
        series: [{}, {scale: 'y', paths: () => null, points: {show: false}}],
        hooks: {draw: [draw]},
    }, [range.x, range.y], chart);
    plot.over.addEventListener('mousemove', event => point(event, false));
    plot.over.addEventListener('click', event => point(event, true));
    plot.over.addEventListener('mouseleave', () => pinned || unmark());
}

/* --- pointing ----------------------------------------------------------------------------- */

function show(title, where, list, x, y, others = '') {
    const tip = $('tip');
    tip.replaceChildren(make('strong', {}, title), make('div', {className: 'where'}, where),
        make('dl', {}, ...list.filter(([, value]) => value).flatMap(([what, value, detail]) => [
            make('dt', {}, what),
            make('dd', {}, value, detail ? make('small', {}, detail) : null)])));
    if (others) tip.append(make('div', {className: 'others'}, `also here: ${others}`));
    tip.hidden = false;
    const left = plot.over.offsetLeft, top = plot.over.offsetTop;
    const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
    const right = left + x + 18 + wide <= chart.clientWidth;
    const at = right ? left + x + 18 : Math.max(0, left + x - 18 - wide);
    tip.style.left = `${Math.min(at, chart.clientWidth - wide)}px`;
    // Beside what it is about; where there is no room, below or above.
    const over = !right && left + x - 18 < wide;
    const down = y < plot.over.clientHeight / 2 ? top + y + 24 : top + y - 24 - high;
    tip.style.top = `${over ? down : Math.max(0, Math.min(top + y - high / 3, chart.clientHeight - high))}px`;
}

// Points at a dot: a ring in the chart, its figures, its row.
function mark(key, drawing = false) {
    const at = drawn.find(d => d.dot.key === key);
    const dot = at ? at.dot : visible.find(v => v.key === key);
    const ring = $('ring');
    if (!dot) return unmark();
    marked = dot;
    ring.hidden = !at;
    for (const row of $('operators').tBodies[0].rows) row.classList.toggle('on', row.dataset.key === key);
    if (at) {
        ring.style.left = `${plot.over.offsetLeft + at.x}px`;
        ring.style.top = `${plot.over.offsetTop + at.y}px`;
        ring.style.width = ring.style.height = `${2 * at.size + 8}px`;
    }
    if (at && (!drawing || !$('tip').hidden)) {
        show(dot.row.name + (dot.row.count > 1 ? ` × ${dot.row.count}` : ''), `${place(dot)} — ${dot.row.shape}`,
             figures(dot), at.x, at.y, beside(at));
    } else if (!at) {
        $('tip').hidden = true;
    }
}

function unmark() {
    pinned = false;
    marked = null;
    $('ring').hidden = $('tip').hidden = true;
    for (const row of $('operators').tBodies[0].rows) row.classList.remove('on');
}

function nearest(x, y) {
    let [best, least] = [null, Infinity];
    for (const d of drawn) { // of those that lie upon each other the one that takes most time
        for (const at of [d.y, d.below]) {
            const far = at === null ? Infinity : Math.hypot(d.x - x, at - y);
            if (far < d.size + 9 && far < least - 0.5) [best, least] = [d, far];
        }
    }
    return best;
}

// What else lies where a dot does.
function beside(d) {
    const list = drawn.filter(o => o !== d && Math.hypot(o.x - d.x, o.y - d.y) < 0.7 * Math.max(o.size, d.size));
    const names = list.slice(0, 4).map(o => o.dot.row.name + (o.dot.group === d.dot.group ? '' : ` (${data.groups[o.dot.group]})`));
    return names.join(', ') + (list.length > 4 ? ` and ${list.length - 4} more` : '');
}

function lineAt(x, y) {
    const value = plot.posToVal(x, 'x');
    return lines.find(line => line.slope !== undefined
        ? value <= line.to && Math.abs(plot.valToPos(line.slope * value / TERA, 'y') - y) < 7
        : value >= line.from && Math.abs(plot.valToPos(line.rate / TERA, 'y') - y) < 7);
}

function point(event, click) {
    const box = plot.over.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (pinned && !click) return;
    const d = nearest(x, y);
    if (d) {
        mark(d.dot.key);
        pinned = click;
        return;
    }
    unmark();
    const hit = lineAt(x, y);
    if (!hit) return;
    if (hit.line) show(hit.line.name, 'attainable', [[hit.line.slope ? 'bandwidth' : 'rate', hit.line.text]], x, y);
    else if (hit.ceiling) show(`Ceiling of ${hit.roof.id}`, hit.roof.name, ceilingFigures(hit.ceiling), x, y);
    else show(`Memory of ${hit.roof.id}`, hit.roof.name, [['bandwidth', hit.roof.bandwidth]], x, y);
}

// Dots from left to right.
chart.addEventListener('keydown', event => {
    const order = [...drawn].sort((a, b) => a.x - b.x || a.y - b.y);
    const at = order.findIndex(d => marked && d.dot.key === marked.key);
    const to = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at < 0 ? 0 : at - 1, ArrowUp: at < 0 ? 0 : at - 1,
                Home: 0, End: order.length - 1}[event.key];
    if (event.key === 'Escape') unmark();
    if (to === undefined || order.length === 0) return;
    event.preventDefault();
    mark(order[(to + order.length) % order.length].dot.key);
});
chart.addEventListener('blur', () => pinned || unmark());

/* --- sliders and toggles -------------------------------------------------------------------- */

function slider(name, label, unit) {
    const {values} = data[name];
    const input = make('input', {type: 'range', id: name, min: 0, max: values.length - 1, step: 1, value: state[name]});
    const output = make('output', {id: `${name}-value`});
    output.htmlFor.add(name);
    const set = () => {
        output.textContent = values[state[name]].toLocaleString('en').replace(/,/g, '\u2009');
        input.value = state[name];
        input.setAttribute('aria-valuetext', values[state[name]]);
    };
    input.addEventListener('input', () => {
        state[name] = Number(input.value);
        update();
    });
    sliders.push(set);
    return make('div', {className: 'slider'}, make('label', {htmlFor: name}, label, make('span', {}, unit)), output, input,
                make('div', {className: 'ends', ariaHidden: 'true'}, make('span', {}, String(values[0])),
                     make('span', {}, String(values[values.length - 1]))));
}
const sliders = [];

function chip(set, value, text, sign) {
    const input = make('input', {type: 'checkbox', checked: set.has(value), name: text});
    input.addEventListener('change', () => {
        if (input.checked) set.add(value);
        else set.delete(value);
        update();
    });
    return make('label', {className: 'chip'}, input, sign, text);
}

function toggles(label, chips) {
    return make('fieldset', {}, make('legend', {}, label), ...chips);
}

function makeToggles() {
    const formats = [...new Set(data.roofs.flatMap(roof => roof.ceilings.flatMap(c => c.formats)))];
    for (const format of data.used.length > 0 ? data.used : formats) state.formats.add(format);
    const bar = $('toggles');
    if (data.groups.length > 0) {
        bar.append(toggles(sized ? 'phase' : 'group', data.groups.map((group, i) => chip(state.groups, i, group,
            icon(shapes[i % shapes.length], several ? 'var(--soft)' : variable({group: i, roof: 0}))))));
    }
    if (several) {
        bar.append(toggles('device', data.roofs.map((roof, i) => chip(state.roofs, i, roof.id,
            make('span', {className: 'swatch', style: `color: var(--c${i % COLOURS})`})))));
    }
    bar.append(toggles('ceilings', formats.map(format => chip(state.formats, format, format, null))));
    if (rows.some(row => row.expected)) {
        const input = make('input', {type: 'checkbox', checked: state.expected, name: 'expected'});
        input.addEventListener('change', () => {
            state.expected = input.checked;
            range = findRange();
            plot.setData([range.x, range.y]);
            update();
        });
        bar.append(toggles('time', [make('label', {className: 'chip'}, input, 'expected')]));
    }
    if (sized) {
        $('sizes').append(slider('batch', 'Batch', ' (sequences)'), slider('context', 'Context', ' (tokens)'));
    }
}

/* --- summary -------------------------------------------------------------------------------- */

const PARTS = [['weights', '--c0'], ['kv', '--c4'], ['activations', '--c2']];
const PART_NAMES = {weights: 'weights', kv: 'KV cache', activations: 'activations'};

function memory(s) {
    if (s.fits === null) return make('div', {className: 'memory'}, make('p', {}, `memory ${s.needed}; the capacity is unknown`));
    const needed = s.weights_b + s.kv_b + s.activations_b;
    const whole = Math.max(needed, s.capacity_b);
    const limit = 100 * (s.capacity_b - s.reserve_b) / whole;
    const bar = make('div', {className: 'bar', ariaHidden: 'true'},
        ...PARTS.map(([part, fill]) => make('i', {style: `width: ${100 * s[`${part}_b`] / whole}%; background: var(${fill})`})),
        make('i', {className: 'limit', style: `left: calc(${limit}% - 1px)`}));
    return make('div', {className: `memory${s.fits ? '' : ' no'}`},
        make('p', {}, make('strong', {}, s.fits ? 'Fits' : 'Does not fit'), `: ${s.needed} of ${s.capacity} less ${s.reserve}${data.devices > 1 ? ', on each device' : ''}`), bar,
        make('p', {}, ...PARTS.map(([part, fill]) => make('span', {},
            make('i', {className: 'key', style: `background: var(${fill})`}), `${PART_NAMES[part]} ${s[part]}`))));
}

// All sizes at a glance: the darker, the more tokens per second; hatched where it does not fit.
function map(series) {
    const [batches, contexts] = [data.batch.values, data.context.values];
    const all = series.points.map(p => p === null ? null : named(data.summary_keys, p[2]));
    const known = all.filter(s => s && s.rate > 0).map(s => Math.log(s.rate));
    if (known.length < 2) return [];
    const [least, most] = [Math.min(...known), Math.max(...known)];
    const box = make('div', {className: 'map', style: `grid-template-columns: repeat(${contexts.length}, 1fr)`, ariaHidden: 'true'});
    for (let b = batches.length - 1; b >= 0; b--) {
        for (let c = 0; c < contexts.length; c++) {
            const s = all[b * contexts.length + c];
            const cell = make('i', {title: `batch ${batches[b]}, context ${contexts[c]}: ` +
                (!s ? 'no such pass' : s.rate ? `${s.expected_tokens || s.tokens} tokens/s` : 'does not fit')});
            if (s && s.rate > 0) {
                const share = most > least ? (Math.log(s.rate) - least) / (most - least) : 1;
                cell.style.background = `color-mix(in srgb, ${variable(series)} ${Math.round(12 + 82 * share)}%, var(--panel))`;
            } else {
                cell.className = 'no';
            }
            if (b === state.batch && c === state.context) cell.classList.add('at');
            cell.addEventListener('click', () => {
                state.batch = b;
                state.context = c;
                update();
            });
            box.append(cell);
        }
    }
    return [box, make('p', {ariaHidden: 'true'}, make('span', {}, `context ${contexts[0]} →`), make('span', {}, `tokens/s by batch ↑ and context`),
                      make('span', {}, `→ ${contexts[contexts.length - 1]}`))];
}

function pair(label, value, detail, otherLabel, other, otherDetail) {
    const one = (l, v, d, strong) => make('div', {}, make('div', {className: 'label'}, l),
        make('div', {className: 'figure', style: strong ? '' : 'color: var(--soft)'}, v || '–'), make('div', {className: 'detail'}, d || ''));
    return make('div', {className: 'pair'}, one(label, value, detail, true), one(otherLabel, other, otherDetail, false));
}

function card(series) {
    const point = pointOf(series);
    const head = make('header', {}, icon(shapeOf(series), variable(series), 14), make('h2', {}, data.groups[series.group]),
                      make('span', {}, data.roofs[series.roof].id));
    if (point === null) {
        return make('article', {className: 'card panel'}, head, make('p', {className: 'none'}, 'There is no such pass at these sizes.'));
    }
    const s = named(data.summary_keys, point[2]);
    const times = s.expected
        ? pair(`expected ${s.label}`, s.expected, `${s.low} to ${s.high}, ${s.expected_bound}-bound`,
               'at best', s.time, `${s.bound}-bound`)
        : pair(`${s.label}, at best`, s.time, `${s.bound}-bound`, 'expected', null, s.why);
    const tokens = s.expected_tokens
        ? pair('expected tokens/s', s.expected_tokens, `${s.expected_user} per user`, 'at best', s.tokens, `${s.user} per user`)
        : pair('tokens/s, at best', s.tokens, s.tokens ? `${s.user} per user` : 'it does not fit', '', ' ', '');
    const beyond = data.limit > 0 && data.context.values[state.context] > data.limit
        ? make('p', {className: 'none'}, `The model was made for contexts up to ${data.limit}.`) : null;
    return make('article', {className: 'card panel'}, head, times, tokens, memory(s), ...map(series), beyond);
}

/* --- table ---------------------------------------------------------------------------------- */

const columns = [
    {key: 'name', text: 'operator', value: dot => dot.row.name, cell: dot =>
        [icon(shapeOf(dot), variable(dot)), dot.row.name]},
    {key: 'group', text: sized ? 'phase' : 'group', value: dot => data.groups[dot.group], wanted: () => data.groups.length > 1},
    {key: 'roof', text: 'device', value: dot => data.roofs[dot.roof].id, wanted: () => several},
    {key: 'count', text: 'count', n: true, value: dot => dot.row.count, wanted: () => rows.some(row => row.count > 1)},
    {key: 'time', text: 'bound', n: true, value: dot => dot.row.total_s, cell: dot => [dot.row.total]},
    {key: 'expected', text: 'expected', n: true, value: dot => dot.row.expected_total_s ?? -1, cell: dot => [dot.row.expected_total || '–'],
     wanted: () => rows.some(row => row.expected)},
    {key: 'measured', text: 'measured', n: true, value: dot => dot.row.measured ? dot.row.reached : -1,
     cell: dot => [dot.row.measured ? `${dot.row.measured} (${dot.row.of_bound})` : '–'], wanted: () => rows.some(row => row.measured)},
    {key: 'share', text: 'share', n: true, value: dot => dot.share, cell: dot => [
        make('span', {className: 'share', ariaHidden: 'true'}, make('i', {style: `width: ${dot.share}%; background: ${variable(dot)}`})), `${dot.share.toFixed(1)}%`],
     wanted: () => visible.some(dot => dot.share !== null)},
    {key: 'bound', text: 'limited by', value: dot => dot.row.bound, cell: dot => [make('span', {className: 'tag'}, dot.row.bound)]},
    {key: 'intensity', text: 'FLOP/byte', n: true, value: dot => dot.row.x ?? 0, cell: dot => [dot.row.intensity.replace(' FLOP/byte', '')]},
    {key: 'attainable', text: 'TFLOPS', n: true, value: dot => dot.row.y ?? 0, cell: dot => [dot.row.attainable.replace(' TFLOPS', '')]},
    {key: 'shape', text: 'shape', value: dot => dot.row.shape, className: 'shape'},
];

function sorted() {
    const column = columns.find(c => c.key === state.sort.key);
    const order = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
    const list = visible.map((dot, i) => [column.value(dot), i, dot]);
    list.sort((a, b) => (state.sort.down ? order(b[0], a[0]) : order(a[0], b[0])) || a[1] - b[1]);
    return list.map(entry => entry[2]);
}

function fillTable() {
    const table = $('operators');
    const focused = document.activeElement.closest('#operators tr[data-key]');
    const focusKey = focused && focused.dataset.key;
    const shown = columns.filter(column => !column.wanted || column.wanted());
    const header = document.activeElement.closest('#operators th') && state.sort.key;
    if (!shown.some(column => column.key === state.sort.key)) state.sort = {key: 'time', down: true};
    const head = make('tr', {}, ...shown.map(column => {
        const button = make('button', {type: 'button', textContent: column.text});
        const th = make('th', {scope: 'col', className: column.n ? 'n' : ''}, button);
        if (column.key === state.sort.key) th.ariaSort = state.sort.down ? 'descending' : 'ascending';
        button.addEventListener('click', () => {
            state.sort = {key: column.key, down: column.key === state.sort.key ? !state.sort.down : Boolean(column.n)};
            fillTable();
        });
        if (column.key === header) requestAnimationFrame(() => button.focus());
        return th;
    }));
    const all = sorted();
    const list = all.slice(0, state.rows);
    const body = list.map((dot, i) => make('tr', {tabIndex: (focusKey ? dot.key === focusKey : i === 0) ? 0 : -1, 'data-key': dot.key},
        ...shown.map(column => make('td', {className: column.className || (column.n ? 'n' : '')},
            ...(column.cell ? column.cell(dot) : [String(column.value(dot))])))));
    table.tHead.replaceChildren(head);
    table.tBodies[0].replaceChildren(...body);
    if (focusKey) body.find(row => row.dataset.key === focusKey)?.focus({preventScroll: true});
    const more = $('more');
    more.replaceChildren();
    if (all.length > list.length) {
        const button = make('button', {type: 'button'}, `Show all ${all.length}`);
        button.addEventListener('click', () => {
            state.rows = Infinity;
            fillTable();
        });
        more.append(`${list.length} of ${all.length} operators. `, button);
    } else if (all.length === 0) {
        more.append('Nothing is shown: all groups or devices are switched off, or there are none.');
    }
    $('list').hidden = rows.length === 0;
}

function listenTable() {
    const body = $('operators').tBodies[0];
    const row = event => event.target.closest('tr');
    body.addEventListener('focusin', event => mark(row(event).dataset.key));
    body.addEventListener('focusout', () => pinned || unmark());
    body.addEventListener('mouseover', event => row(event) && mark(row(event).dataset.key));
    body.addEventListener('mouseleave', () => pinned || unmark());
    body.addEventListener('keydown', event => {
        const at = row(event);
        const to = {ArrowDown: at.nextElementSibling, ArrowUp: at.previousElementSibling,
                    Home: body.firstElementChild, End: body.lastElementChild}[event.key];
        if (!to) return;
        event.preventDefault();
        at.tabIndex = -1;
        to.tabIndex = 0;
        to.focus();
    });
}

/* --- all of it ------------------------------------------------------------------------------ */

function update() {
    const shown = seriesShown();
    visible = shown.flatMap(dotsOf).sort((a, b) => b.share - a.share);
    sliders.forEach(set => set());
    fillTable();
    if (sized) $('summary').replaceChildren(...shown.map(card));
    plot.redraw(false, false);
}

function notes() {
    const list = data.notes.map(note => `Note: ${note}`);
    if (data.left_out > 0) list.push(`${data.left_out} operators without FLOPs have no place in the chart.`);
    $('notes').textContent = list.join('\n');
}

const page = $('page');
page.hidden = false;
page.classList.toggle('sized', sized);
$('side').hidden = !sized;
makeToggles();
notes();
makePlot();
listenTable();
update();
new ResizeObserver(() => plot.setSize(sizeNow())).observe(chart);
const recolour = () => {
    readColours();
    plot.redraw(false, true);
};
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
for (const event of ['beforeprint', 'afterprint']) {
    addEventListener(event, () => requestAnimationFrame(recolour));
}
matchMedia('print').addEventListener('change', () => {
    plot.setSize(sizeNow());
    recolour();
});
})();
