// SPDX-License-Identifier: MIT
// The explorer: asks the module what the state of form.js says, and shows the answers.
'use strict';

// --- the module -----------------------------------------------------------------------------------

let worker = null;
let compiled = null;
let asked = 0;
let pending = null;
let later = null; // what is asked when nothing else is

function startWorker() {
  const source = `${partText('module.js')}\n${partText('worker.js')}`;
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.addEventListener('message', ({ data }) => {
    if (data.ready || !pending || data.ask !== pending.ask) return;
    if (data.done) {
      const finished = pending;
      pending = null;
      byId('busy').hidden = true;
      finished.done();
      beginLater();
      return;
    }
    byId('progress').max = pending.count;
    byId('progress').value = data.index + 1;
    pending.reply(data.index, data);
  });
  worker.postMessage({ module: compiled });
}

// Asks several questions; each reply and the end are told. A later call ends this one.
function ask(requests, reply, done) {
  asked += 1;
  later ??= pending?.again ?? null;
  pending = { ask: asked, count: requests.length, reply, done };
  const mine = asked;
  setTimeout(() => { if (pending && pending.ask === mine && !pending.again) byId('busy').hidden = false; }, 250);
  worker.postMessage({ ask: asked, requests });
}

// Asks when the page has nothing else to ask; a change of the question forgets it.
function askLater(requests, reply) {
  later = { requests, reply };
  beginLater();
}

function beginLater() {
  if (pending || !later) return;
  const mine = later;
  ask(mine.requests, mine.reply, () => {});
  pending.again = mine;
  later = null;
}

function cancel() {
  worker.terminate();
  pending = null;
  byId('busy').hidden = true;
  startWorker();
  showError('Cancelled.');
  byId('view').replaceChildren(make('button', { type: 'button', onclick: askAll }, 'Ask again'));
}

// --- answers --------------------------------------------------------------------------------------

let facts = new Map();
let answers = []; // of the devices: {device, color, inputs, prediction, step: the pass whose operators are shown}
let chosen = null; // the operator whose details are shown
const spans = {};

// Names of models that a message offers become buttons.
function showError(text) {
  const [, offered = ''] = /did you mean (.+?)\?/.exec(text) ?? [];
  const names = offered.split(/, | or /).filter((name) => known.models.includes(name));
  const here = text.replace(/ \((all: [^)]*|roofline list models)\)/, '').replace(/^.*cannot open: [^;]*; n/, 'N').replace('give the path', 'drop it here')
    .replace(/cannot open: Capabilities insufficient/, 'This page cannot open files by name.');
  byId('error').replaceChildren(here, ...names.flatMap((name) => [' ', make('button', { type: 'button', onclick: () => change({ model: name }) }, name)]));
  byId('error').hidden = text === '';
}

function factsRequest(device) {
  return device.startsWith('{')
    ? { command: 'plot', format: 'json', inputs: { hardware: JSON.parse(device) } }
    : { command: 'list', format: 'json', inputs: { list: 'hardware', id: device } };
}

// Peaks of the matrix and the vector unit stand in one table of a device file.
function takeFacts(device, text) {
  const document_ = JSON.parse(text);
  const own = device.startsWith('{') ? JSON.parse(device) : document_;
  const number = (figure) => (typeof figure === 'object' && figure !== null ? figure.value : figure);
  const peaks = Object.entries(own.peak_tflops ?? {}).map(([format, figure]) => [format, number(figure)]).filter(([, v]) => usable(v));
  facts.set(device, { bandwidth_gb_s: number(own.bandwidth_gb_s), peak_tflops: Object.fromEntries(peaks) });
}

function askAll() {
  showError('');
  later = null;
  if (pending) pending.again = null;
  const s = state;
  const missing = (s.more_bandwidth || s.more_peak) ? s.hardware.filter((d) => !facts.has(d)) : [];
  if (missing.length > 0) {
    ask(missing.map(factsRequest), (i, { status, text, message }) => (status === 0 ? takeFacts(missing[i], text) : showError(message)), () => {
      for (const device of missing) if (!facts.has(device)) facts.set(device, null);
      askAll();
    });
    return;
  }
  const rows = s.hardware.map((device, i) => ({ device, color: COLORS[i], inputs: inputsOf(s, device), prediction: null, ceilings: [] }));
  const requests = rows.flatMap((r) => [{ command: 'predict', format: 'json', inputs: r.inputs }, { command: 'plot', format: 'json', inputs: { hardware: r.inputs.hardware, set: r.inputs.set } }]);
  ask(requests, (i, { status, text, message }) => {
    const row = rows[Math.floor(i / 2)];
    if (status !== 0) showError(message);
    else if (i % 2 === 0) row.prediction = JSON.parse(text);
    else [row.roof] = JSON.parse(text).devices;
  }, () => {
    const whole = rows.filter((r) => r.prediction && r.roof);
    for (const row of whole) row.step = row.prediction;
    const show = () => { answers = whole; showAnswers(); };
    if (whole.every((r) => r.prediction.phase !== 'request')) { show(); return; }
    ask(whole.map(stepRequest), (i, { text }) => { if (text !== '') whole[i].step = JSON.parse(text); }, show);
  });
}

// Requests have no operators of their own: those of a decode step in the middle of generating.
function stepRequest(row) {
  const { generate, context } = row.prediction;
  const inputs = Object.fromEntries(Object.entries(row.inputs).filter(([key]) => !REQUEST_ONLY.includes(key)));
  return { command: 'predict', format: 'json', inputs: { ...inputs, phase: 'decode', context: String(context - Math.ceil(generate / 2)) } };
}

const stepNote = () => (answers[0]?.step === answers[0]?.prediction ? ''
  : ` These are the operators of a decode step with ${short(answers[0].step.context)} tokens in the KV cache; "One pass" shows those of a prefill.`);

const milliseconds = (us) => (us === undefined ? '' : us >= 1000 ? `${short(us / 1000)} ms` : `${short(us)} µs`);
const gib = (bytes) => (bytes >= 2 ** 30 / 10 ? `${short(bytes / 2 ** 30)} GiB` : `${short(bytes / 2 ** 20)} MiB`);

const hasEstimate = (p) => p.expected_time_us !== undefined || p.expected_tpot_ms !== undefined;

// The times of a prediction, each with what it is of, and their bounds.
function headline(p) {
  const both = (key) => [`${short(p[`expected_${key}`] ?? p[key])} ms`, `${short(p[key])} ms`];
  const known_ = [['ttft_ms', 'to first token'], ['tpot_ms', 'per token']].filter(([key]) => p[`expected_${key}`] !== undefined || p[key] !== undefined);
  const times = p.prompt === undefined ? known_.slice(0, 1) : known_;
  if (times.length > 0) return times.map(([key, label]) => [...both(key), label]);
  return [[milliseconds(p.expected_time_us ?? p.time_us), milliseconds(p.time_us), p.operator ?? 'one pass']];
}

function memoryBar(p) {
  if (p.memory_capacity_bytes === undefined) return null;
  const parts = [['weights', p.weights_memory_bytes, 'var(--c0)'], ['KV cache', p.kv_cache_bytes - (p.state_bytes ?? 0), 'var(--c2)'], ['states', p.state_bytes ?? 0, 'var(--c3)'], ['activations', p.activation_memory_bytes, 'var(--c1)'], ['reserve', p.memory_reserve_bytes, 'var(--soft)']].filter(([, v]) => v > 0);
  const whole = Math.max(p.memory_capacity_bytes, parts.reduce((sum, [, v]) => sum + v, 0));
  const text = parts.map(([name, v]) => `${name} ${gib(v)}`).join(', ');
  return make('div', {}, make('div', { className: 'bar', role: 'img', 'aria-label': `Memory: ${text} of ${gib(p.memory_capacity_bytes)}` },
    ...parts.map(([name, v, color]) => make('i', { title: `${name}: ${gib(v)}`, style: `width:${(100 * v) / whole}%;background:${color}` }))),
  make('p', { className: 'soft parts' }, p.fits === false ? make('strong', { className: 'bad' }, 'Does not fit: ') : '',
    ...parts.flatMap(([name, v, color], i) => [i > 0 ? ', ' : '', make('span', {}, make('span', { className: 'dot', style: `background:${color}` }), `${name} ${gib(v)}`)]), ` of ${gib(p.memory_capacity_bytes)}`));
}

function card(answer) {
  const p = answer.prediction;
  const head = headline(p);
  const estimated = hasEstimate(p);
  const interval = usable(p.expected_low_us) ? ` (${milliseconds(p.expected_low_us)} to ${milliseconds(p.expected_high_us)})` : '';
  const rate = p.expected_tokens_per_s ?? p.tokens_per_s;
  return make('article', { className: 'card', style: `--c:${answer.color}` },
    make('h2', {}, deviceName(answer.device)),
    make('p', {}, ...head.flatMap(([value, , label], i) => [i > 0 ? ', ' : '', make('span', { className: 'big' }, value), ` ${label}`])),
    make('p', { className: 'soft' }, estimated ? `estimate${p.prompt === undefined ? interval : ''}; lower bound ${head.map(([, bound]) => bound).join(', ')}` : 'lower bound; no measured kernels'),
    make('p', {}, 'limited by ', make('strong', {}, p.expected_bottleneck ?? p.bottleneck), rate === undefined ? '' : `; ${short(rate)} tokens/s`),
    p.limits?.max_batch > 0 ? make('p', { className: 'soft' }, `up to ${p.limits.max_batch.toLocaleString('en-US')} sequences fit in memory`) : null,
    memoryBar(p),
    make('p', { className: 'soft', id: `help-${answers.indexOf(answer)}` }));
}

const VIEWS = [
  { id: 'roofline', label: 'Roofline', show: viewRoofline },
  { id: 'operators', label: 'Operators', show: viewOperators, when: MODEL },
  { id: 'layer', label: 'Layer', show: viewLayer, when: MODEL },
  { id: 'batch', label: 'Latency', show: viewBatch, when: PASS },
  { id: 'pareto', label: 'Pareto', show: viewPareto, when: MODEL },
  { id: 'plans', label: 'Plans', show: viewPlans, when: MODEL },
  { id: 'load', label: 'Load', show: viewLoad, when: MODEL },
  { id: 'help', label: 'What would help', show: viewHelp, when: MODEL },
  { id: 'formats', label: 'Formats', show: viewFormats, when: (s) => s.about === 'operator' },
  { id: 'speedup', label: 'A versus B', show: viewSpeedup },
  { id: 'report', label: 'Report', show: viewReport },
];

// The work and formats in a few words.
function workOf({ inputs, prediction: p }) {
  const sizes = state.about === 'operator' ? dimensionsOf(state.operator).filter(({ key }) => inputs[key] !== undefined).map(({ key }) => `${key.replaceAll('_', '-')} ${inputs[key]}`)
    : [...(p.prompt === undefined ? [p.phase, `context ${p.context}`] : [`prompt ${p.prompt}`, `generate ${p.generate}`]), `batch ${p.batch}`, ...['tp', 'pp', 'ep', 'dp'].filter((key) => p[key] > 1).map((key) => `${key} ${p[key]}`)];
  return [...sizes, [...new Set([p.weights, p.activations])].join(' by ')].join(', ');
}

function showAnswers() {
  byId('cards').replaceChildren(...answers.map(card));
  const first = answers[0];
  const subject = state.about === 'model' ? deviceName(state.model) : state.operator;
  byId('question').textContent = first ? `${subject} on ${answers.map((a) => deviceName(a.device)).join(', ')}: ${workOf(first)}` : '';
  document.title = first ? `${byId('question').textContent} - roofline` : 'roofline explorer';
  const views = VIEWS.filter((v) => !v.when || v.when(state));
  const view = views.find((v) => v.id === state.view) ?? views[0];
  const { activeElement } = document, atTabs = byId('tabs').contains(activeElement); // the focus stays
  byId('tabs').replaceChildren(...views.map((v, i) => make('button', { type: 'button', id: `tab-${v.id}`, role: 'tab', 'aria-selected': v === view, 'aria-controls': 'view', tabIndex: v === view ? 0 : -1,
    onclick: () => change({ view: v.id }),
    onkeydown: (e) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (by) { const next = views[(i + by + views.length) % views.length]; change({ view: next.id }); byId(`tab-${next.id}`)?.focus(); }
    } }, v.label)));
  if (atTabs) byId(activeElement.id)?.focus();
  byId('view').setAttribute('aria-labelledby', `tab-${view.id}`);
  if (answers.length > 0) view.show(byId('view')); else byId('view').replaceChildren();
  if (state.about === 'model' && answers.length > 0) {
    const asked_ = answers;
    askLater(asked_.map(helpRequest), (i, { text }) => { if (answers === asked_) showHelp(asked_[i], text); });
  }
}

// --- the beginning --------------------------------------------------------------------------------

function listRequest(list) { return { command: 'list', format: 'json', inputs: { list } }; }

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
  byId('theme').value = theme;
}

async function start() {
  matchMedia('(max-width: 760px)').addEventListener('change', () => { if (answers.length > 0 && !matchMedia('print').matches) showAnswers(); }); // charts are as wide as their room
  compiled = await WebAssembly.compile(parts.module);
  startWorker();
  byId('undo').addEventListener('click', () => history.back());
  byId('redo').addEventListener('click', () => history.forward());
  byId('reset').addEventListener('click', () => change({ ...Object.fromEntries(Object.keys(state).map((k) => [k, undefined])), ...START }));
  byId('cancel').addEventListener('click', cancel);
  byId('skip').addEventListener('click', (e) => { e.preventDefault(); byId('answer').focus(); }); // its address is no question
  byId('to-form').addEventListener('click', () => { byId('form').scrollIntoView(); byId('about-model').focus({ preventScroll: true }); });
  byId('theme').addEventListener('change', (e) => setTheme(e.target.value));
  addEventListener('popstate', () => { state = fromFragment(location.hash.slice(1)); fillForm(); askAll(); });
  const question = JSON.parse(byId('start').textContent || '{}');
  state = location.hash.length > 1 ? fromFragment(location.hash.slice(1)) : fromQuestion(question);
  const lists = ['models', 'hardware', 'precisions', 'layouts', 'operators', 'engines'];
  ask(lists.map(listRequest), (i, { status, text, message }) => {
    if (status !== 0) { showError(message); return; }
    const rows = JSON.parse(text);
    known[lists[i]] = lists[i] === 'hardware' || lists[i] === 'operators' ? rows : rows.map((r) => r.id ?? r.name);
  }, () => { buildForm(); fillForm(); askAll(); });
}

start().catch((failure) => showError(`This browser cannot run the page: ${failure.message}`));
