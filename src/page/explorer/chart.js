// SPDX-License-Identifier: MIT
// Charts with two logarithmic axes, as SVG: lines, dots, a legend; zoom by buttons, and by the wheel
// with Ctrl; pan by dragging.
'use strict';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 900, NARROW = 400, HEIGHT = 470, LEFT = 62, RIGHT = 16, TOP = 14, BOTTOM = 46;
const GAP = 8; // between two names in a row

function svgNode(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// Lets a part of a chart be chosen as a button is.
function onChoose(node, act) {
  node.addEventListener('click', act);
  node.addEventListener('keydown', (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); act(); } });
  return node;
}

// Three significant digits, without an exponent where people would not write one.
function short(value) {
  if (value === undefined || value === null || Number.isNaN(value)) return '';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace('e+', 'e');
  return size >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
}

// How wide a text of a chart is.
const pen = document.createElement('canvas').getContext('2d');
function widthOf(text) {
  pen.font = '12px system-ui, sans-serif';
  return pen.measureText(text).width;
}

const usable = (value) => Number.isFinite(value) && value > 0;

// The range of values, a little wider than they are.
function spanOf(values, least) {
  const known = values.filter(usable);
  const low = Math.min(...known), high = Math.max(...known);
  if (known.length === 0) return [1, 10];
  const middle = Math.sqrt(low * high);
  const wide = Math.max(Math.sqrt(high / low), least ?? 1.6) * 1.25;
  return [middle / wide, middle * wide];
}

function ticksOf([low, high]) {
  const decades = Math.log10(high / low);
  const steps = decades > 4 ? [1] : decades > 1.6 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const step of steps) {
      const value = step * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
    }
  }
  return ticks;
}

// chart: {title, x: {label, unit}, y, lines: [{name, color, dash, points: [[x, y]]}],
//         dots: [{x, y, low, high, size, color, name, note, open, choose}]}
// Its span is kept in `keep` while the chart is drawn again; `room` is how wide it may be.
class Chart {
  constructor(chart, keep, room) {
    this.chart = chart;
    this.keep = keep;
    this.width = Math.round(Math.min(Math.max(room, NARROW), WIDTH));
    this.top = TOP + 17 * this.placeLegend();
    this.height = HEIGHT - TOP + this.top;
    const xs = [...chart.dots.map((d) => d.x), ...chart.lines.flatMap((l) => l.points.map((p) => p[0]))];
    const ys = [...chart.dots.flatMap((d) => [d.y, d.low, d.high]), ...chart.lines.flatMap((l) => l.points.map((p) => p[1]))];
    this.whole = { x: spanOf(xs), y: spanOf(ys) };
    this.span = keep.span ?? { ...this.whole };
    this.svg = svgNode('svg', { viewBox: `0 0 ${this.width} ${this.height}`, role: 'group', 'aria-label': chart.title });
    this.svg.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.svg.addEventListener('pointerdown', (event) => this.grab(event));
    this.draw();
  }

  place(axis, value) {
    const [low, high] = this.span[axis];
    const share = Math.log(value / low) / Math.log(high / low);
    return axis === 'x' ? LEFT + share * (this.width - LEFT - RIGHT) : this.height - BOTTOM - share * (this.height - this.top - BOTTOM);
  }

  valueAt(axis, share) {
    const [low, high] = this.span[axis];
    return low * (high / low) ** share;
  }

  zoom(factor, at = { x: 0.5, y: 0.5 }) {
    for (const axis of ['x', 'y']) {
      const [low, high] = this.span[axis];
      const fixed = this.valueAt(axis, at[axis]);
      this.span = { ...this.span, [axis]: [fixed * (low / fixed) ** factor, fixed * (high / fixed) ** factor] };
    }
    this.redraw();
  }

  pan(dx, dy) {
    for (const [axis, by] of [['x', dx], ['y', dy]]) {
      const [low, high] = this.span[axis];
      const factor = (high / low) ** by;
      this.span = { ...this.span, [axis]: [low * factor, high * factor] };
    }
    this.redraw();
  }

  home() {
    this.span = { ...this.whole };
    this.redraw();
  }

  redraw() {
    this.keep.span = this.span;
    this.draw();
  }

  shares(event) {
    const box = this.svg.getBoundingClientRect();
    const scale = this.width / box.width;
    return { x: ((event.clientX - box.left) * scale - LEFT) / (this.width - LEFT - RIGHT),
      y: (this.height - BOTTOM - (event.clientY - box.top) * scale) / (this.height - this.top - BOTTOM) };
  }

  // A wheel alone moves the page.
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.18 : 1 / 1.18, this.shares(event));
  }

  grab(event) {
    if (event.target.closest('.point')) return;
    let last = this.shares(event);
    const move = (moved) => {
      const now = this.shares(moved);
      this.pan(last.x - now.x, last.y - now.y);
      last = now;
    };
    const end = () => {
      this.svg.removeEventListener('pointermove', move);
      this.svg.removeEventListener('pointerup', end);
      this.svg.removeEventListener('pointerleave', end);
    };
    this.svg.addEventListener('pointermove', move);
    this.svg.addEventListener('pointerup', end);
    this.svg.addEventListener('pointerleave', end);
  }

  axes() {
    const group = svgNode('g', {});
    for (const tick of ticksOf(this.span.x)) {
      const x = this.place('x', tick);
      group.append(svgNode('line', { class: 'grid', x1: x, x2: x, y1: this.top, y2: this.height - BOTTOM }),
        svgNode('text', { class: 'tick', x, y: this.height - BOTTOM + 16, 'text-anchor': 'middle' }, short(tick)));
    }
    for (const tick of ticksOf(this.span.y)) {
      const y = this.place('y', tick);
      group.append(svgNode('line', { class: 'grid', x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y }),
        svgNode('text', { class: 'tick', x: LEFT - 6, y: y + 4, 'text-anchor': 'end' }, short(tick)));
    }
    group.append(svgNode('text', { x: (LEFT + this.width - RIGHT) / 2, y: this.height - 8, 'text-anchor': 'middle' }, this.chart.x),
      svgNode('text', { x: 14, y: this.height / 2, 'text-anchor': 'middle', transform: `rotate(-90 14 ${this.height / 2})` }, this.chart.y));
    return group;
  }

  line(line) {
    const points = line.points.filter(([x, y]) => usable(x) && usable(y))
      .map(([x, y]) => `${this.place('x', x).toFixed(1)},${this.place('y', y).toFixed(1)}`);
    const node = svgNode('polyline', { points: points.join(' '), fill: 'none', stroke: line.color, 'stroke-width': line.width ?? 2,
      'stroke-dasharray': line.dash ?? 'none' });
    node.append(svgNode('title', {}, line.name));
    return node;
  }

  dot(dot) {
    const group = svgNode('g', {});
    const x = this.place('x', dot.x), y = this.place('y', dot.y);
    if (usable(dot.low) && usable(dot.high)) {
      group.append(svgNode('line', { x1: x, x2: x, y1: this.place('y', dot.low), y2: this.place('y', dot.high), stroke: dot.color, 'stroke-width': 1.5 }));
    }
    const node = svgNode('circle', { class: 'point', cx: x, cy: y, r: dot.size, fill: dot.open ? 'var(--ground)' : dot.color, 'fill-opacity': 0.8,
      stroke: dot.color, tabindex: 0, role: 'button', 'aria-label': dot.name ? `${dot.name}: ${dot.note}` : dot.note });
    node.append(svgNode('title', {}, dot.name ? `${dot.name}\n${dot.note}` : dot.note));
    group.append(dot.choose ? onChoose(node, dot.choose) : node);
    return group;
  }

  // Tells if another dot lies in a box.
  covered(left, right, top, bottom, except) {
    return this.chart.dots.some((d) => {
      const x = this.place('x', d.x), y = this.place('y', d.y);
      return d !== except && x + d.size > left && x - d.size < right && y + d.size > top && y - d.size < bottom;
    });
  }

  // Tells if a line goes through a box; a line is straight between its points.
  crossed(left, right, top, bottom) {
    return this.chart.lines.some(({ points }) => points.slice(1).some((to, i) => {
      const [x1, y1] = [this.place('x', points[i][0]), this.place('y', points[i][1])], [x2, y2] = [this.place('x', to[0]), this.place('y', to[1])];
      const low = Math.max(left, Math.min(x1, x2)), high = Math.min(right, Math.max(x1, x2));
      if (low > high) return false;
      const at = (x) => (x1 === x2 ? y1 : y1 + ((x - x1) / (x2 - x1)) * (y2 - y1));
      return Math.max(at(low), at(high)) > top && Math.min(at(low), at(high)) < bottom;
    }));
  }

  // Names of the largest dots, where no other name stands; those that find no room at their dot are
  // tied to it.
  names(dots) {
    const taken = [];
    const group = svgNode('g', { 'aria-hidden': 'true' });
    for (const dot of dots.filter((d) => !d.quiet && d.name).sort((a, b) => b.size - a.size)) {
      const x = this.place('x', dot.x), y = this.place('y', dot.y);
      const width = widthOf(dot.name);
      const beside = (by) => [[x + dot.size + 18, y + 4 + by, 'start', 0, by], [x - dot.size - 18, y + 4 + by, 'end', -width, by]];
      const places = [[x + dot.size + 4, y + 4, 'start', 0], [x - dot.size - 4, y + 4, 'end', -width], [x, y - dot.size - 5, 'middle', -width / 2], [x, y + dot.size + 14, 'middle', -width / 2], ...[-18, 18, -32, 32, -46, 46, -60, 60].flatMap(beside)];
      const fits = places.filter(([tx, ty, , shift]) => tx + shift > LEFT && tx + shift + width < this.width - RIGHT && ty > this.top + 8 && ty < this.height - BOTTOM - 2 &&
        taken.every((t) => Math.abs(t.y - ty) > 13 || t.left > tx + shift + width + GAP || t.left + t.width + GAP < tx + shift));
      const hides = ([tx, ty, , shift, by]) => {
        const box = [tx + shift, tx + shift + width, ty - 11, ty + 3];
        return 2 * this.covered(...box, dot) + this.crossed(...box) + (by ? 0.5 + Math.abs(by) / 200 : 0);
      };
      const [[least, free] = [2]] = fits.map((place) => [hides(place), place]).sort((a, b) => a[0] - b[0]);
      if (least >= 2 || taken.length >= 20) continue;
      taken.push({ left: free[0] + free[3], width, y: free[1] });
      if (free[4]) group.append(svgNode('line', { class: 'tie', x1: x, y1: y, x2: free[0] + (free[2] === 'start' ? -3 : 3), y2: free[1] - 4 }));
      group.append(svgNode('text', { class: 'name', x: free[0], y: free[1], 'text-anchor': free[2] }, dot.name));
    }
    return group;
  }

  // Puts the entries of the legend side by side above the chart, where they hide nothing; returns
  // how many rows they take.
  placeLegend() {
    let row = 0, left = LEFT;
    this.entries = this.chart.lines.filter((l) => l.legend).map((line) => {
      const width = 46 + widthOf(line.legend);
      if (left > LEFT && left + width > this.width) { row += 1; left = LEFT; }
      const entry = { line, left, y: 14 + 17 * row };
      left += width;
      return entry;
    });
    return this.entries.length > 0 ? row + 1 : 0;
  }

  legend() {
    const group = svgNode('g', {});
    for (const { line, left, y } of this.entries) {
      group.append(svgNode('line', { x1: left, x2: left + 24, y1: y - 4, y2: y - 4, stroke: line.color, 'stroke-width': 2, 'stroke-dasharray': line.dash ?? 'none' }),
        svgNode('text', { x: left + 30, y }, line.legend));
    }
    return group;
  }

  draw() {
    const clip = svgNode('clipPath', { id: 'inside' });
    clip.append(svgNode('rect', { x: LEFT, y: this.top, width: this.width - LEFT - RIGHT, height: this.height - this.top - BOTTOM }));
    const inside = svgNode('g', { 'clip-path': 'url(#inside)' });
    const dots = this.chart.dots.filter((d) => usable(d.x) && usable(d.y));
    inside.append(...this.chart.lines.map((l) => this.line(l)), ...dots.map((d) => this.dot(d)));
    this.svg.replaceChildren(svgNode('title', {}, this.chart.title), clip, this.axes(), inside, this.names(dots), this.legend());
  }
}

// The chart as a file: colours of the page stand in it as they are.
function svgText(svg) {
  const copy = svg.cloneNode(true);
  copy.removeAttribute('style');
  const style = getComputedStyle(document.documentElement);
  const inked = new XMLSerializer().serializeToString(copy).replace(/var\((--[a-z0-9]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  const rules = `text{fill:${style.getPropertyValue('--ink')};font:12px sans-serif}.tick{fill:${style.getPropertyValue('--soft')}}.grid{stroke:${style.getPropertyValue('--line')}}.tie{stroke:${style.getPropertyValue('--soft')}}.name{paint-order:stroke;stroke:${style.getPropertyValue('--ground')};stroke-width:3px}`;
  return inked.replace(/<svg ([^>]*)>/, (_, attributes) => `<svg ${attributes} width="${svg.viewBox.baseVal.width}" height="${svg.viewBox.baseVal.height}" style="background:${style.getPropertyValue('--ground')}"><style>${rules}</style>`);
}
