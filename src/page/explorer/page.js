// SPDX-License-Identifier: MIT
// The explorer: a form, whose state is the page's address; the questions that follow from it; and
// views of their answers.
'use strict';

const byId = (id) => document.getElementById(id);
const COLORS = ['var(--c0)', 'var(--c1)', 'var(--c2)', 'var(--c3)', 'var(--c4)', 'var(--c5)'];
const DEVICES_MAX = COLORS.length;

function make(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key in node && key !== 'list' && key !== 'form') node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

// --- the state ------------------------------------------------------------------------------------

// One input has its value as the text of an option; lists are arrays of these.
const START = { about: 'model', model: 'llama-3-8b', operator: 'gemm', hardware: ['h100-sxm'], view: 'roofline', run: 'pass',
  precision: '', phase: 'decode', batch: '1', context: '4096', prompt: '2048', generate: '256' };

let state = { ...START };
let known = { models: [], hardware: [], precisions: [], layouts: [], operators: [], engines: [] };

function toFragment(s) {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(s)) {
    if (JSON.stringify(value) === JSON.stringify(START[key]) || value === '' || value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) parameters.append(key, item);
  }
  return parameters.toString();
}

function fromFragment(text) {
  const s = { ...START };
  const parameters = new URLSearchParams(text);
  for (const key of new Set(parameters.keys())) s[key] = key === 'hardware' ? parameters.getAll(key).slice(0, DEVICES_MAX) : parameters.get(key);
  return s;
}

// Changes the state; each change is a step of the browser's history, so that it can be undone.
function change(next) {
  state = { ...state, ...next };
  const fragment = `#${toFragment(state)}`;
  if (fragment !== location.hash) history.pushState(null, '', fragment);
  fillForm();
  askAll();
}

// Inputs of the program without a place in the form are passed on as they are; these are flags.
const FLAG_KEYS = ['unfused_attention', 'split_projections', 'no_launch_overhead', 'native_only', 'why'];
// Of these some are of few commands, and the others are not asked with them.
const FEW = { by: ['recommend', 'simulate'], ...Object.fromEntries([
  ...['formats', 'objective', 'kind', 'native_only', 'min_tokens_per_s', 'max_cost', 'max_power'].map((key) => [key, ['recommend']]),
  ...['seed', 'warm_up', 'router', 'step_scale', 'request_overhead'].map((key) => [key, ['simulate']])]) };

function extraOf(s, command) {
  return Object.fromEntries(Object.entries(JSON.parse(s.extra || '{}')).filter(([key]) => FEW[key]?.includes(command) ?? true));
}

// Requests of a load have lengths by a distribution; a single request has their mean.
function meanLength(lengths) {
  const [kind, a, b] = lengths.split(':');
  const plain = (text) => { const [, number, unit] = /^([\d.]+)(k|Ki|)$/.exec(text ?? '') ?? []; return Number(number) * { k: 1000, Ki: 1024, '': 1 }[unit]; };
  if (kind === 'uniform') return String(Math.round((plain(a) + plain(b)) / 2));
  return kind === 'lognormal' ? String(Math.round(plain(a))) : lengths;
}

// The question that a page was written for, as the command line's inputs.
function fromQuestion(question) {
  const { operator, model, hardware, explain, prompt, ...given } = question.inputs ?? {};
  const lengths = {};
  if (question.command === 'simulate') {
    if (given.generate) Object.assign(lengths, { generate_lengths: given.generate });
    if (prompt) lengths.prompt_lengths = prompt;
    given.generate = given.generate && meanLength(given.generate);
    for (const key of Object.keys(lengths)) if (!lengths[key].includes(':')) delete lengths[key];
  }
  // A page stands at one of the values of a sweep; distributions and percentiles have colons, too.
  const first = (value) => (Array.isArray(value) || /^[a-z]+\d*:/.test(value) ? value : String(value).split(/[,:]/)[0]);
  const shown = new Set(Object.values(FIELDS).flat().map((f) => f.key));
  const rest = {}, extra = {};
  for (const [key, value] of Object.entries(given)) {
    if (key === 'class') rest.class = value[0];
    else if (key === 'price_per_hour') rest[key] = value.join(',');
    else if (value === undefined) continue;
    else if (shown.has(key) || operator) rest[shown.has(key) ? key : `dim_${key}`] = first(value);
    else extra[key] = FLAG_KEYS.includes(key) ? true : value;
  }
  const s = { ...START, ...rest, ...lengths };
  if (Object.keys(extra).length > 0) s.extra = JSON.stringify(extra);
  if (explain) Object.assign(s, { hardware: explain.split(','), view: 'speedup' });
  if (question.command === 'sweep' && model) s.view = 'batch';
  if (operator) Object.assign(s, { about: 'operator', operator });
  if (model) s.model = typeof model === 'string' ? model : JSON.stringify(model);
  if (hardware) s.hardware = [].concat(hardware).flatMap((h) => (typeof h === 'string' ? h.split(',') : JSON.stringify(h))).slice(0, DEVICES_MAX);
  if (prompt) Object.assign(s, { run: 'request', prompt: question.command === 'simulate' ? meanLength(prompt) : first(prompt) });
  if (question.command === 'simulate') s.view = 'load';
  if (question.command === 'recommend' && model) s.view = 'plans';
  for (const [key, value] of Object.entries(s)) if (key !== 'hardware') s[key] = value === true ? '1' : String(value);
  return s;
}

// --- the module -----------------------------------------------------------------------------------

let worker = null;
let compiled = null;
let asked = 0;
let pending = null;
let later = null; // what is asked when nothing else is

async function compile() {
  const packed = Uint8Array.from(atob(byId('wasm').textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

function startWorker() {
  const source = `${byId('module-source').textContent}\n${byId('worker-source').textContent}`;
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
  showError('Cancelled; change something to ask again.');
}

// --- the form -------------------------------------------------------------------------------------

const PASS = (s) => s.about === 'model' && s.run === 'pass';
const REQUEST = (s) => s.about === 'model' && s.run === 'request';
const MODEL = (s) => s.about === 'model';

// A row: key, label, choices or type of the input, and when it applies.
const FIELDS = {
  run: [
    { key: 'phase', label: 'Phase', choices: () => ['decode', 'prefill', 'mixed'], when: PASS },
    { key: 'batch', label: 'Batch (sequences)', when: MODEL },
    { key: 'context', label: 'Context (tokens)', when: PASS },
    { key: 'prompt', label: 'Prompt (tokens)', when: REQUEST },
    { key: 'generate', label: 'Generate (tokens)', when: REQUEST },
    { key: 'static', label: 'Static batch', flag: true, when: REQUEST },
  ],
  formats: [
    { key: 'precision', label: 'Weights and inputs', choices: () => ['', ...known.precisions] },
    { key: 'kv', label: 'KV cache', choices: () => ['', ...known.precisions], when: MODEL },
    { key: 'layout', label: 'Layout (format by class)', choices: () => ['', 'checkpoint', ...known.layouts], when: MODEL },
    { key: 'class', label: 'One class, as lm_head=fp8', when: MODEL },
    { key: 'weights', label: 'Weights apart', choices: () => ['', ...known.precisions] },
    { key: 'activations', label: 'Activations apart', choices: () => ['', ...known.precisions] },
    { key: 'stack', label: 'Kernels of', choices: () => ['', 'best', 'trtllm', 'vllm', 'sglang'] },
    { key: 'sparse', label: '2:4 sparsity', flag: true },
  ],
  split: [
    { key: 'tp', label: 'Tensor parallel' }, { key: 'pp', label: 'Pipeline parallel' }, { key: 'ep', label: 'Expert parallel' }, { key: 'dp', label: 'Copies' },
    { key: 'attention_dp', label: 'Attention data par.' }, { key: 'moe_tp', label: 'Experts tensor par.' }, { key: 'moe_ep', label: 'Experts expert par.' },
    { key: 'prefix_hit', label: 'Prefix hit (0 to 1)', when: REQUEST }, { key: 'chunk', label: 'Chunk (tokens)', when: REQUEST },
    { key: 'draft_tokens', label: 'Draft tokens' }, { key: 'acceptance', label: 'Acceptance (0 to 1)' },
    { key: 'draft_model', label: 'Draft model', choices: () => ['', 'none', 'mtp', ...known.models] },
  ],
  limits: [
    { key: 'devices', label: 'Devices at most' }, { key: 'concurrency', label: 'Requests at once' },
    { key: 'max_ttft', label: 'First token within', hint: '1s' }, { key: 'max_tpot', label: 'Then a token each', hint: '30ms' },
    { key: 'max_accuracy_loss', label: 'Accuracy loss', choices: () => ['', 'none', '<1%', '1-2%', '2-5%', 'any'] },
    { key: 'objective', label: 'Best by', hint: 'throughput' }, { key: 'engine', label: 'Engine', choices: () => ['', ...known.engines] },
    { key: 'price_per_hour', label: 'Price of a device-hour', hint: 'h100-sxm=3' },
  ],
  load: [
    { key: 'rate', label: 'Requests per second' }, { key: 'arrivals', label: 'Arrivals', hint: 'poisson, gamma:2' },
    { key: 'prompt_lengths', label: 'Prompts', hint: 'lognormal:1k:1.5' }, { key: 'generate_lengths', label: 'Lengths to generate', hint: 'uniform:50:400' },
    { key: 'max_e2e', label: 'Whole request within', hint: 'p90:20s' }, { key: 'max_num_seqs', label: 'Sequences at most', hint: '256' },
    { key: 'requests', label: 'Requests to simulate', hint: '1000' },
  ],
};
const PASS_ONLY = ['phase', 'context'], REQUEST_ONLY = ['prompt', 'generate', 'static', 'prefix_hit', 'chunk'];
const LIMITS = FIELDS.limits.map((f) => f.key);

function fieldNode(field) {
  const id = `in-${field.key}`;
  if (field.flag) {
    return make('label', { className: 'inline' }, make('input', { type: 'checkbox', id, onchange: (e) => change({ [field.key]: e.target.checked ? '1' : '' }) }), field.label);
  }
  const node = field.choices
    ? make('select', { id, onchange: (e) => change({ [field.key]: e.target.value }) },
      ...field.choices().map((c) => make('option', { value: c }, c === '' ? 'default' : c)))
    : make('input', { id, autocomplete: 'off', placeholder: field.hint ?? '', onchange: (e) => change({ [field.key]: e.target.value.trim() }) });
  return make('label', {}, field.label, node);
}

function group(title, fields, open) {
  const box = make('div', { className: 'fields' }, ...fields.map(fieldNode));
  if (open) return make('fieldset', {}, make('legend', {}, title), box);
  return make('details', { id: `more-${title}` }, make('summary', {}, title), box);
}

// Reads a dropped or chosen JSON file, and hands its text on when it is an object.
async function readDocument(file, take) {
  try {
    const value = JSON.parse((await file.text()).replace(/\b(NaN|-?Infinity)\b/g, 'null'));
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Error('it is no JSON object');
    take(JSON.stringify({ name: file.name.replace(/\.json$/, ''), ...value }));
  } catch (failure) {
    showError(`${file.name}: ${failure.message}`);
  }
}

function dropZone(text, take) {
  const chooser = make('input', { type: 'file', accept: '.json,application/json', 'aria-label': text, onchange: (e) => e.target.files[0] && readDocument(e.target.files[0], take) });
  const zone = make('div', { className: 'drop wide' }, `${text} `, chooser);
  zone.addEventListener('dragover', (e) => { e.preventDefault(); zone.classList.add('over'); });
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  zone.addEventListener('drop', (e) => { e.preventDefault(); zone.classList.remove('over'); if (e.dataTransfer.files[0]) readDocument(e.dataTransfer.files[0], take); });
  return zone;
}

function buildForm() {
  const model = make('input', { id: 'in-model', list: 'models', autocomplete: 'off', 'aria-label': 'Model', onchange: (e) => change({ model: e.target.value.trim() }) });
  model.setAttribute('list', 'models');
  const add = make('select', { id: 'add-device', 'aria-label': 'Add a device', onchange: (e) => { if (e.target.value) addDevice(e.target.value); } },
    make('option', { value: '' }, 'add a device …'), ...known.hardware.map((h) => make('option', { value: h.id }, `${h.id}: ${h.name}`)));
  byId('form').replaceChildren(
    make('fieldset', { id: 'f-about' }, make('legend', {}, 'What'),
      make('div', { className: 'row', role: 'group', 'aria-label': 'Model or operator' },
        ...['model', 'operator'].map((a) => make('button', { type: 'button', id: `about-${a}`, onclick: () => change({ about: a, view: 'roofline' }) }, a === 'model' ? 'Model' : 'Operator'))),
      make('div', { id: 'about-a-model' }, make('label', {}, 'Model, or its name at Hugging Face', model),
        make('datalist', { id: 'models' }, ...known.models.map((m) => make('option', { value: m }))),
        dropZone('Or a config.json:', (text) => change({ model: text }))),
      make('div', { id: 'about-an-operator' }, make('label', {}, 'Operator',
        make('select', { id: 'in-operator', onchange: (e) => change({ operator: e.target.value }) }, ...known.operators.map((o) => make('option', { value: o.name }, `${o.name}: ${o.summary}`)))),
      make('div', { id: 'dimensions', className: 'fields' }))),
    make('fieldset', {}, make('legend', {}, 'Devices'), make('div', { id: 'chips', className: 'chips' }), add,
      dropZone('Or a device file:', addDevice),
      make('details', { id: 'more-what-if' }, make('summary', {}, 'What if the device were different?'),
        ...[['more_bandwidth', 'Memory bandwidth'], ['more_peak', 'Peak rates']].map(([key, label]) => make('label', {}, label, ' ', make('output', { id: `out-${key}` }),
          make('input', { type: 'range', id: `in-${key}`, min: -2, max: 2, step: 0.25, oninput: (e) => change({ [key]: e.target.value === '0' ? '' : e.target.value }) }))))),
    make('fieldset', { id: 'f-run' }, make('legend', {}, 'Work'),
      make('div', { className: 'row', role: 'group', 'aria-label': 'One pass or requests' },
        ...[['pass', 'One pass'], ['request', 'Requests']].map(([r, label]) => make('button', { type: 'button', id: `run-${r}`, onclick: () => change({ run: r }) }, label))),
      make('div', { className: 'fields' }, ...FIELDS.run.map(fieldNode))),
    make('p', { id: 'extra', className: 'soft' }),
    group('Formats', FIELDS.formats, true),
    group('Split, drafts, cache', FIELDS.split),
    group('Limits of plans', FIELDS.limits),
    group('Load', FIELDS.load));
  byId('form').addEventListener('submit', (e) => e.preventDefault());
}

function addDevice(device) {
  if (state.hardware.includes(device)) return;
  change({ hardware: [...state.hardware, device].slice(-DEVICES_MAX) });
}

function deviceName(text) {
  if (!text.startsWith('{')) return text;
  try { const d = JSON.parse(text); return d.id ?? d.name ?? 'device'; } catch { return 'device'; }
}

function dimensionsOf(operator) {
  const row = known.operators.find((o) => o.name === operator);
  return (row?.dimensions ?? '').split(' ').filter(Boolean).map((d) => ({ key: d.replace(/[[\]]/g, '').replace(/^-+/, '').replaceAll('-', '_'), optional: d.startsWith('[') }));
}

// What an operator is asked with where nothing is given.
const EXAMPLES = { m: '16', n: '4096', k: '4096', tokens: '16', hidden: '4096', heads: '32', kv_heads: '8', head_dim: '128', kv_len: '8192', query_len: '1',
  intermediate: '2048', experts: '128', top_k: '8', elements: '1Mi', devices: '8' };

function fillForm() {
  const s = state;
  for (const about of ['model', 'operator']) byId(`about-${about}`).setAttribute('aria-pressed', s.about === about);
  for (const run of ['pass', 'request']) byId(`run-${run}`).setAttribute('aria-pressed', s.run === run);
  byId('about-a-model').hidden = s.about !== 'model';
  byId('about-an-operator').hidden = s.about !== 'operator';
  byId('f-run').hidden = s.about !== 'model';
  for (const title of ['Split, drafts, cache', 'Limits of plans', 'Load']) byId(`more-${title}`).hidden = s.about !== 'model';
  byId('in-model').value = s.model.startsWith('{') ? `${deviceName(s.model)} (your config.json)` : s.model;
  byId('in-operator').value = s.operator;
  for (const field of Object.values(FIELDS).flat()) {
    const node = byId(`in-${field.key}`);
    if (field.flag) node.checked = s[field.key] === '1'; else node.value = s[field.key] ?? '';
    node.closest('label').hidden = field.when ? !field.when(s) : false;
  }
  for (const key of ['more_bandwidth', 'more_peak']) {
    byId(`in-${key}`).value = s[key] ?? 0;
    byId(`out-${key}`).value = `${short(2 ** Number(s[key] ?? 0))}x`;
  }
  byId('extra').textContent = s.extra ? `Also: ${s.extra}` : '';
  byId('chips').replaceChildren(...s.hardware.map((device, i) => make('span', { className: 'chip' }, make('span', { className: 'dot', style: `background:${COLORS[i]}` }), deviceName(device),
    make('button', { type: 'button', 'aria-label': `Remove ${deviceName(device)}`, disabled: s.hardware.length === 1, onclick: () => change({ hardware: s.hardware.filter((d) => d !== device) }) }, '×'))));
  byId('add-device').value = '';
  byId('dimensions').replaceChildren(...(s.about === 'operator' ? dimensionsOf(s.operator) : []).map(({ key, optional }) =>
    make('label', {}, `${key.replaceAll('_', '-')}${optional ? ' (optional)' : ''}`,
      make('input', { id: `dim-${key}`, autocomplete: 'off', value: s[`dim_${key}`] ?? (optional ? '' : EXAMPLES[key] ?? '1'), onchange: (e) => change({ [`dim_${key}`]: e.target.value.trim() }) }))));
}

// --- questions ------------------------------------------------------------------------------------

const PASSED_ON = ['precision', 'kv', 'layout', 'class', 'weights', 'activations', 'stack', 'sparse'];
const SPLIT = FIELDS.split.map((f) => f.key);
const MODEL_PASSED_ON = ['batch', ...SPLIT, ...PASS_ONLY, ...REQUEST_ONLY];

const FLAGS = new Set(Object.values(FIELDS).flat().filter((f) => f.flag).map((f) => f.key));

function given(s, keys) {
  const inputs = {};
  for (const key of keys) if (s[key] !== undefined && s[key] !== '') inputs[key] = FLAGS.has(key) ? true : s[key];
  return inputs;
}

// The figures of a device that the sliders change, as the input `set`.
function whatIf(s, device) {
  const figures = facts.get(device);
  const set = {};
  if (!figures) return {};
  if (s.more_bandwidth) set.bandwidth_gb_s = figures.bandwidth_gb_s * 2 ** Number(s.more_bandwidth);
  if (s.more_peak) for (const [format, peak] of Object.entries(figures.peak_tflops)) set[`peak_tflops.${format}`] = peak * 2 ** Number(s.more_peak);
  return Object.keys(set).length > 0 ? { set } : {};
}

function inputsOf(s, device) {
  const where = { hardware: device.startsWith('{') ? JSON.parse(device) : device, ...whatIf(s, device) };
  if (s.about === 'operator') {
    const inputs = { operator: s.operator, ...where, ...given(s, PASSED_ON.filter((k) => !['kv', 'layout', 'class'].includes(k))) };
    for (const { key, optional } of dimensionsOf(s.operator)) {
      const value = s[`dim_${key}`] ?? (optional ? '' : EXAMPLES[key] ?? '1');
      if (value !== '') inputs[key] = ['causal', 'gain'].includes(key) ? value !== '0' : value;
    }
    return inputs;
  }
  const hidden = s.run === 'pass' ? REQUEST_ONLY : PASS_ONLY;
  return { model: s.model.startsWith('{') ? JSON.parse(s.model) : s.model, ...where, ...extraOf(s, 'predict'),
    ...given(s, [...PASSED_ON, ...MODEL_PASSED_ON].filter((k) => !hidden.includes(k))) };
}

const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function commandLine(command, inputs) {
  const words = ['roofline', command];
  const { operator, model, ...rest } = inputs;
  words.push(...(operator ? [operator] : [...(command === 'simulate' ? [] : ['model']), typeof model === 'object' ? 'config.json' : model]));
  for (const [key, value] of Object.entries(rest)) {
    const option = `${key.length === 1 ? '-' : '--'}${key.replaceAll('_', '-')}`;
    if (value === true) words.push(option);
    else if (key === 'price_per_hour') for (const price of value) words.push(option, price);
    else if (key === 'set') for (const [figure, number] of Object.entries(value)) words.push(option, `${figure}=${number}`);
    else if (value !== false) words.push(option, typeof value === 'object' && !Array.isArray(value) ? `${deviceName(JSON.stringify(value))}.json` : String(value));
  }
  return words.map((w) => shellWord(String(w))).join(' ');
}

// --- answers --------------------------------------------------------------------------------------

let facts = new Map();
let answers = []; // of the devices: {device, color, inputs, prediction, step: the pass whose operators are shown}
let chosen = null; // the operator whose details are shown
const spans = {};

function showError(text) {
  byId('error').textContent = text;
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
  : ` Operators are those of a decode step with ${short(answers[0].step.context)} tokens in the cache; One pass shows a prefill's.`);

const milliseconds = (us) => (us === undefined ? '' : us >= 1000 ? `${short(us / 1000)} ms` : `${short(us)} µs`);
const gib = (bytes) => (bytes >= 2 ** 30 / 10 ? `${short(bytes / 2 ** 30)} GiB` : `${short(bytes / 2 ** 20)} MiB`);

const hasEstimate = (p) => p.expected_time_us !== undefined || p.expected_tpot_ms !== undefined;

function headline(p) {
  if (p.expected_ttft_ms !== undefined || p.ttft_ms !== undefined) {
    if (p.prompt !== undefined) return { label: 'first token, then a token each', value: `${short(p.expected_ttft_ms ?? p.ttft_ms)} ms, ${short(p.expected_tpot_ms ?? p.tpot_ms)} ms`, bound: `${short(p.ttft_ms)} ms, ${short(p.tpot_ms)} ms` };
    return { label: 'first token', value: `${short(p.expected_ttft_ms ?? p.ttft_ms)} ms`, bound: `${short(p.ttft_ms)} ms` };
  }
  if (p.tpot_ms !== undefined) return { label: 'a token each', value: `${short(p.expected_tpot_ms ?? p.tpot_ms)} ms`, bound: `${short(p.tpot_ms)} ms` };
  return { label: p.operator ?? 'one pass', value: milliseconds(p.expected_time_us ?? p.time_us), bound: milliseconds(p.time_us) };
}

function memoryBar(p) {
  if (p.memory_capacity_bytes === undefined) return null;
  const parts = [['weights', p.weights_memory_bytes, 'var(--c0)'], ['KV cache', p.kv_cache_bytes, 'var(--c2)'], ['activations', p.activation_memory_bytes, 'var(--c1)'], ['reserve', p.memory_reserve_bytes, 'var(--soft)']].filter(([, v]) => v > 0);
  const whole = Math.max(p.memory_capacity_bytes, parts.reduce((sum, [, v]) => sum + v, 0));
  const text = parts.map(([name, v]) => `${name} ${gib(v)}`).join(', ');
  return make('div', {}, make('div', { className: 'bar', role: 'img', 'aria-label': `Memory: ${text} of ${gib(p.memory_capacity_bytes)}` },
    ...parts.map(([name, v, color]) => make('i', { title: `${name}: ${gib(v)}`, style: `width:${(100 * v) / whole}%;background:${color}` }))),
  make('p', { className: p.fits === false ? '' : 'soft' }, `${p.fits === false ? 'Does not fit: ' : ''}${text} of ${gib(p.memory_capacity_bytes)}`));
}

function card(answer) {
  const p = answer.prediction;
  const head = headline(p);
  const estimated = hasEstimate(p);
  const interval = usable(p.expected_low_us) ? ` (${milliseconds(p.expected_low_us)} to ${milliseconds(p.expected_high_us)})` : '';
  const rate = p.expected_tokens_per_s ?? p.tokens_per_s;
  return make('article', { className: 'card', style: `--c:${answer.color}` },
    make('h2', {}, deviceName(answer.device)),
    make('p', {}, make('span', { className: 'big' }, head.value), ` ${head.label}`),
    make('p', { className: 'soft' }, estimated ? `estimated${p.prompt === undefined ? interval : ''}; bound ${head.bound}` : 'the bound: no measured kernels'),
    make('p', {}, 'limited by ', make('strong', {}, p.expected_bottleneck ?? p.bottleneck), rate === undefined ? '' : `; ${short(rate)} tokens/s`),
    p.limits?.max_batch !== undefined ? make('p', { className: 'soft' }, `room for ${p.limits.max_batch.toLocaleString('en-US')} sequences at once`) : null,
    memoryBar(p),
    make('p', { className: 'soft', id: `help-${answers.indexOf(answer)}` }));
}

const VIEWS = [
  { id: 'roofline', label: 'Roofline', show: viewRoofline },
  { id: 'operators', label: 'Operators', show: viewOperators, when: MODEL },
  { id: 'layer', label: 'Layer', show: viewLayer, when: MODEL },
  { id: 'batch', label: 'Batch and context', show: viewBatch, when: PASS },
  { id: 'pareto', label: 'Users against throughput', show: viewPareto, when: MODEL },
  { id: 'plans', label: 'Plans', show: viewPlans, when: MODEL },
  { id: 'load', label: 'Load', show: viewLoad, when: MODEL },
  { id: 'help', label: 'What would help', show: viewHelp, when: MODEL },
  { id: 'formats', label: 'Formats', show: viewFormats, when: (s) => s.about === 'operator' },
  { id: 'speedup', label: 'A against B', show: viewSpeedup },
  { id: 'report', label: 'Report and files', show: viewReport },
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
  const views = VIEWS.filter((v) => !v.when || v.when(state));
  const view = views.find((v) => v.id === state.view) ?? views[0];
  byId('tabs').replaceChildren(...views.map((v, i) => make('button', { type: 'button', id: `tab-${v.id}`, role: 'tab', 'aria-selected': v === view, 'aria-controls': 'view', tabIndex: v === view ? 0 : -1,
    onclick: () => change({ view: v.id }),
    onkeydown: (e) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (by) { const next = views[(i + by + views.length) % views.length]; change({ view: next.id }); byId(`tab-${next.id}`)?.focus(); }
    } }, v.label)));
  byId('view').setAttribute('aria-labelledby', `tab-${view.id}`);
  if (answers.length > 0) view.show(byId('view')); else byId('view').replaceChildren();
  if (state.about === 'model' && answers.length > 0) {
    const asked_ = answers;
    askLater(asked_.map(helpRequest), (i, { text }) => { if (answers === asked_) showHelp(asked_[i], text); });
  }
}

// --- views ----------------------------------------------------------------------------------------

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
    return { name: `${deviceName(answer.device)}: ${ceiling.formats.join(', ')} (${ceiling.unit} unit), ${short(ceiling.peak_tflops)} TFLOP/s, ridge at ${short(ridge)} FLOP/byte`, color,
      dash: ceiling.unit === 'vector' ? '6 4' : undefined, legend: `${deviceName(answer.device)} ${ceiling.formats.join(', ')}${ceiling.unit === 'vector' ? ', vector unit' : ''}: ${short(ceiling.peak_tflops)} TFLOP/s`,
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
  view.replaceChildren(chartNode('roofline', { title, x: 'arithmetic intensity, FLOP per byte', y: 'TFLOP/s', lines, dots }),
    make('p', { className: 'soft' }, `A dot is an operator at its estimated rate, with its interval; its size is its share of the time. Hollow: only the bound is known. Operators under 1% of the time are left out. A dot opens its formula.${stepNote()}`),
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
  view.replaceChildren(make('div', { className: 'row no-print' }, search, which, make('span', { className: 'soft' }, stepNote())),
    make('div', { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Operators' }, make('table', {}, make('thead', {}, make('tr', {}, ...columns.map(([id, label]) => make('th', { scope: 'col', 'aria-sort': order.key === id ? (order.down ? 'descending' : 'ascending') : 'none' },
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
  view.replaceChildren(make('p', { className: 'soft' }, `On ${deviceName(answer.device)}: time × how often, and share of the time; the colour says what limits it (`,
    ...['memory', 'compute', 'network', 'overhead'].flatMap((limit, i) => [i > 0 ? ', ' : '', make('span', { className: 'dot', style: `background:var(--${limit})` }), ` ${limit}`]),
    `). An arrow goes to an operator that reads a result; a dashed one goes to the next layer. Each box opens its formula.${stepNote()}`), make('div', { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Graph' }, svg), imageButtons('layer', svg), make('div', { id: 'details' }));
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

function viewBatch(view) {
  const prefill = state.phase === 'prefill';
  const [time, label] = prefill ? ['ttft_ms', 'ms to the first token'] : ['tpot_ms', 'ms per token'];
  const contexts = [1024, 8192, 65536];
  const lines = [];
  view.replaceChildren(make('p', { className: 'soft' }, 'Asking …'));
  ask(answers.map((a) => ({ command: 'sweep', format: 'csv', inputs: sweepInputs(a, { batch: BATCHES, context: contexts, columns: `batch,context,fits,${time},expected_${time}` }) })), (i, { status, text, message }) => {
    if (status !== 0) { showError(message); return; }
    contexts.forEach((context, c) => {
      const rows = rowsOf(text).filter((r) => r.context === context && r.fits !== 0);
      const points = rows.map((r) => [r.batch, r[`expected_${time}`] ?? r[time]]);
      if (points.length > 0) lines.push({ name: `${deviceName(answers[i].device)}, context ${context}`, legend: `${deviceName(answers[i].device)}, context ${context.toLocaleString('en-US')}`, color: answers[i].color, dash: [undefined, '7 4', '2 3'][c], points });
    });
  }, () => {
    view.replaceChildren(lines.length === 0 ? make('p', {}, 'No batch fits at these contexts.') : chartNode('batch', { title: `Latency over batch: ${byId('question').textContent}`, x: 'batch, sequences', y: label, lines, dots: lines.flatMap((l) => l.points.map(([x, y]) => ({ x, y, size: 3, color: l.color, name: '', note: `${l.name}, batch ${x}: ${short(y)} ms` }))) }),
      make('p', { className: 'soft' }, 'Lines end where memory ends.'));
  });
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
    dots.push(...points.map((p) => ({ ...p, size: 4, color: answers[i].color, name: String(p.batch), note: `${deviceName(answers[i].device)}, batch ${p.batch}: ${short(p.x)} tokens/s for a user, ${short(p.y)} for a device`, choose: () => change({ batch: String(p.batch) }) })));
  }, () => view.replaceChildren(dots.length === 0 ? make('p', {}, 'No batch fits.') : chartNode('pareto', { title: `Throughput against speed for a user: ${byId('question').textContent}`, x: 'tokens/s for each user', y: 'tokens/s for each device', lines, dots }),
    make('p', { className: 'soft' }, 'A dot is a batch, and chooses it.')));
}

function planInputs() {
  const base = answers[0].inputs;
  const inputs = { model: base.model, hardware: state.hardware.map((d) => (d.startsWith('{') ? JSON.parse(d) : d)), prompt: state.prompt, generate: state.generate, ...extraOf(state, 'recommend'), ...given(state, LIMITS), ...given(state, SPLIT) };
  if (state.kv) inputs.kv = state.kv;
  if (inputs.price_per_hour) inputs.price_per_hour = inputs.price_per_hour.split(',').map((p) => p.trim());
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
    const held = fixed.length > 0 ? ` All have ${fixed.join(', ')}, as the form says.` : '';
    const columns = [['hardware', (p) => p.hardware], ['formats', (p) => p.formats], ['KV', (p) => p.kv], ['devices', (p) => p.devices], ['copies', (p) => p.dp], ['tp', (p) => p.tp], ['pp', (p) => p.pp], ['ep', (p) => p.ep], ['batch', (p) => p.batch],
      ['first token, ms', (p) => p.expected_ttft_ms ?? p.ttft_ms], ['token each, ms', (p) => p.expected_tpot_ms ?? p.tpot_ms], ['tokens/s', (p) => p.expected_tokens_per_s ?? p.tokens_per_s], ...(inputs.price_per_hour ? [['cost of a million tokens', (p) => p.cost_per_million_tokens]] : []), ['accuracy loss', (p) => p.accuracy_loss], ['engines', (p) => p.engines], ['by', (p) => (p.basis === 'expected' ? 'estimate' : 'bound')]];
    view.replaceChildren(
      make('p', {}, status === 0 ? `${document_.count} plans hold the limits; the best first.${held}` : 'No plan holds the limits; the program says what comes nearest:'),
      plans.length === 0 ? '' : make('div', { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Plans' }, make('table', {}, make('thead', {}, make('tr', {}, make('th', {}, 'plan'), ...columns.map(([label]) => make('th', { scope: 'col' }, label)))),
        make('tbody', {}, ...plans.map((p) => make('tr', {}, make('td', {}, make('button', { type: 'button', title: 'Ask about this plan', onclick: () => change({ hardware: [state.hardware.find((d) => deviceName(d) === p.hardware) ?? p.hardware], run: 'request', batch: String(p.batch), precision: p.formats, kv: p.kv, stack: p.stack ?? '', view: 'roofline',
          ...Object.fromEntries(['tp', 'pp', 'attention_dp', 'moe_tp', 'moe_ep', 'draft_tokens'].map((key) => [key, p[key] > 1 || (key === 'draft_tokens' && p[key] > 0) ? String(p[key]) : ''])), ep: '' }) }, `Plan ${p.rank ?? ''}`)),
          ...columns.map(([, get]) => { const v = get(p); return make('td', { className: typeof v === 'string' ? 'left' : '' }, typeof v === 'string' ? v : short(v)); })))))),
      copyButton('Copy the command', () => commandLine('recommend', { ...inputs, hardware: state.hardware.map(deviceName).join(',') })));
    if (status !== 0) ask([{ command: 'recommend', format: 'text', inputs }], (__, reply) => view.append(make('pre', { tabIndex: 0 }, reply.text || reply.message)), () => {});
  }, () => {});
}

// --- load -----------------------------------------------------------------------------------------

const LOAD_SPLIT = SPLIT.filter((key) => !['draft_tokens', 'acceptance', 'draft_model'].includes(key));
const LOAD_COLUMNS = ['rate_per_s', 'completed_per_s', 'tokens_per_s', 'ttft_ms_p50', 'ttft_ms_p99', 'tpot_ms_p50', 'tpot_ms_p99', 'e2e_ms_p50', 'e2e_ms_p99', 'running', 'kv_use', 'saturated'];
const LOAD_HEADS = ['asked', 'requests/s', 'completed/s', 'tokens/s', 'first token p50, ms', 'p99', 'a token each p50, ms', 'p99', 'whole p50, ms', 'p99', 'running', 'KV cache, %', 'load'];
// The rates of a curve, as shares of the greatest.
const SHARES = [0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 0.97, 1.05];

function loadInputs(answer, more) {
  const { model, hardware, set } = answer.inputs;
  const inputs = { model, hardware, ...(set ? { set } : {}), ...(hasEstimate(answer.prediction) ? {} : { by: 'ideal' }), ...extraOf(state, 'simulate'), prompt: state.prompt_lengths || state.prompt, generate: state.generate_lengths || state.generate,
    ...given(state, [...PASSED_ON, ...LOAD_SPLIT, 'arrivals', 'max_num_seqs']), requests: state.requests || '1000', ...more };
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
  const cell = (r, key) => (key === 'saturated' ? (r[key] ? 'saturated' : '') : short(r[key]));
  view.replaceChildren(
    make('p', {}, ...found.flatMap(({ answer, most, asked }, i) => [i > 0 ? make('br') : null, make('strong', {}, deviceName(answer.device)), `: ${asked?.max_rate_per_s === undefined ? '' : `${short(asked.max_rate_per_s)} requests/s keep the limits${(asked.raises ?? []).length === 0 ? '' : ` (${asked.raises.map((r) => `${r.key} ${r.value}: ${short(r.factor)}x`).join(', ')})`}, `}`, `about ${short(most)} requests/s at most${hasEstimate(answer.prediction) ? '' : ', by lower bounds: no kernels are measured'}`])),
    loadChart(found, ['ttft_ms', 'time to first token']), loadChart(found, ['tpot_ms', 'time per token']),
    make('p', { className: 'soft' }, `Requests arrive at random and wait for each other: ${state.requests || '1000'} are simulated for each dot, with prompts of ${state.prompt_lengths || state.prompt} and ${state.generate_lengths || state.generate} tokens to generate, without drafts. ` +
      'Half of them are faster than p50, one of a hundred is slower than p99. A rate, or limits of the first token and of each (1s, p99:1s), under Load and Limits of plans mark a place on the curves.'),
    failure ? make('p', {}, failure) : '',
    make('div', { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Load' }, make('table', {}, make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'device'), ...LOAD_HEADS.map((h) => make('th', { scope: 'col' }, h)))),
      make('tbody', {}, ...rows.map((r) => make('tr', { className: r.asked ? 'chosen' : '' }, make('td', {}, deviceName(r.device)), make('td', {}, r.asked ? 'yes' : ''), ...LOAD_COLUMNS.map((key) => make('td', {}, cell(r, key)))))))),
    copyButton('Copy the command', () => commandLine('simulate', asksLoad() ? askedInputs(answers[0]) : fullInputs(answers[0]))));
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
    blocks.push(make('h2', {}, deviceName(answers[i].device)), ...(phases.length === 0 ? [make('p', {}, message || 'Nothing is known.')] : phases.flatMap(({ phase, head, rows }) => [make('h3', {}, phase),
      make('div', { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': `${phase} on ${deviceName(answers[i].device)}` }, make('table', {}, make('thead', {}, make('tr', {}, ...head.map((h, k) => make('th', { scope: 'col', className: k === head.length - 1 ? 'left' : '' }, h)))),
        make('tbody', {}, ...rows.map((cells) => make('tr', {}, ...cells.map((c, k) => make('td', { className: k === 0 || k === cells.length - 1 ? 'left' : '' }, c)))))))])));
  }, () => view.replaceChildren(make('p', { className: 'soft' }, 'One change at a time, each predicted like the rest; a gain is in tokens/s of all sequences.'), ...blocks));
}

// The line of a card: the changes that gain most, other than a larger batch.
function showHelp(answer, report) {
  const node = byId(`help-${answers.indexOf(answer)}`);
  const phases = opportunitiesOf(report);
  const { head = [], rows = [] } = phases.find(({ phase }) => phase.toLowerCase() === state.phase) ?? phases[0] ?? {};
  // What does not fit is helped by what makes it fit.
  const tight = answer.prediction.fits === false;
  const fits = (note) => /\bfits\b/.test(note) && !/not fit/.test(note);
  const gains = rows.map((cells) => [cells[0], ['expected gain', 'gain at best', 'gain'].map((h) => cells[head.indexOf(h)] ?? '').find((gain) => parseFloat(gain) > 0), cells.at(-1)])
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
    view.replaceChildren(make('p', {}, 'Add a second device; the difference of the first two is taken apart here.'));
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
    return make('table', {}, make('thead', {}, make('tr', {}, ...['cause', 'saved', 'share'].map((t) => make('th', { scope: 'col', className: 'left' }, t)))),
      make('tbody', {}, ...parts.map(([key, v]) => make('tr', {}, make('td', {}, key), make('td', {}, `${v < 0 ? '−' : ''}${milliseconds(Math.abs(v))}`),
        make('td', { className: 'left' }, make('span', { className: 'bar', style: `width:16rem` }, make('i', { style: `width:${(100 * Math.abs(v)) / most}%;background:var(--${v < 0 ? 'c4' : 'c2'})` })))))));
  };
  ask([{ command: 'predict', format: 'json', inputs }, { command: 'predict', format: 'text', inputs }], (i, { status, text, message }) => {
    if (status !== 0) view.replaceChildren(make('p', {}, message));
    else if (i === 0) {
      const d = JSON.parse(text);
      view.replaceChildren(make('p', {}, make('span', { className: 'big' }, `${short(d.expected_speedup ?? d.speedup)}x`), ` from ${d.from} to ${d.to}${d.expected_speedup ? ` (by the bounds ${short(d.speedup)}x)` : ', by the bounds'}`), bars(d));
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

// --- the beginning --------------------------------------------------------------------------------

function listRequest(list) { return { command: 'list', format: 'json', inputs: { list } }; }

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
  byId('theme').value = theme;
}

async function start() {
  matchMedia('(max-width: 760px)').addEventListener('change', () => { if (answers.length > 0 && !matchMedia('print').matches) showAnswers(); }); // charts are as wide as their room
  compiled = await compile();
  startWorker();
  byId('undo').addEventListener('click', () => history.back());
  byId('redo').addEventListener('click', () => history.forward());
  byId('reset').addEventListener('click', () => change({ ...Object.fromEntries(Object.keys(state).map((k) => [k, undefined])), ...START }));
  byId('cancel').addEventListener('click', cancel);
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
