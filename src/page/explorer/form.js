// SPDX-License-Identifier: MIT
// The state of the explorer, which is the page's address; the form that changes it; and the
// questions that follow from it.
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
  ...['seed', 'warm_up', 'router', 'prefix_cache', 'hash_tokens', 'recv_interval'].map((key) => [key, ['simulate']]), ['request_overhead', ['simulate', 'recommend']]]) };

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
    if (key === 'class') rest.class = value.join(', ');
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
    { key: 'precision', label: 'Weights and activations', choices: () => ['', ...known.precisions] },
    { key: 'kv', label: 'KV cache', choices: () => ['', ...known.precisions] },
    { key: 'layout', label: 'Checkpoint layout', choices: () => ['', 'checkpoint', ...known.layouts], when: MODEL },
    { key: 'class', label: 'Formats by class', hint: 'lm_head=fp8, experts=mxfp4', when: MODEL },
    { key: 'weights', label: 'Weights only', choices: () => ['', ...known.precisions] },
    { key: 'activations', label: 'Activations only', choices: () => ['', ...known.precisions] },
    { key: 'out', label: 'Outputs', choices: () => ['', ...known.precisions] },
    { key: 'compute', label: 'Compute format', choices: () => ['', ...known.precisions] },
    { key: 'stack', label: 'Serving stack', choices: () => ['', 'best', 'trtllm', 'vllm', 'sglang'] },
    { key: 'sparse', label: '2:4 sparsity', flag: true },
  ],
  split: [
    { key: 'tp', label: 'Tensor parallel' }, { key: 'pp', label: 'Pipeline parallel' }, { key: 'ep', label: 'Expert parallel' }, { key: 'dp', label: 'Copies' },
    { key: 'attention_dp', label: 'Attention DP' }, { key: 'moe_tp', label: 'MoE tensor parallel' }, { key: 'moe_ep', label: 'MoE expert parallel' },
    { key: 'prefix_hit', label: 'Prefix hit (0 to 1)', when: REQUEST }, { key: 'chunk', label: 'Chunk (tokens)', when: REQUEST },
    { key: 'draft_tokens', label: 'Draft tokens' }, { key: 'acceptance', label: 'Acceptance (0 to 1)' },
    { key: 'draft_model', label: 'Draft model', choices: () => ['', 'none', 'mtp', ...known.models] },
  ],
  limits: [
    { key: 'devices', label: 'Device counts', hint: '1,2,4,8' }, { key: 'concurrency', label: 'Concurrent requests' },
    { key: 'max_ttft', label: 'First token within', hint: '1s' }, { key: 'max_tpot', label: 'Each token within', hint: '30ms' },
    { key: 'max_accuracy_loss', label: 'Accuracy loss at most', choices: () => ['', 'none', '<1%', '1-2%', '2-5%', 'any'] },
    { key: 'objective', label: 'Objective', hint: 'throughput' }, { key: 'engine', label: 'Engine', choices: () => ['', ...known.engines] },
    { key: 'price_per_hour', label: 'Price per device-hour', hint: 'h100-sxm=3' },
  ],
  load: [
    { key: 'rate', label: 'Requests per second' }, { key: 'arrivals', label: 'Arrivals', hint: 'poisson, gamma:2' },
    { key: 'prompt_lengths', label: 'Prompt lengths', hint: 'lognormal:1k:1.5' }, { key: 'generate_lengths', label: 'Generated lengths', hint: 'uniform:50:400' },
    { key: 'max_e2e', label: 'Whole request within', hint: 'p90:20s' }, { key: 'max_num_seqs', label: 'Most sequences', hint: '256' },
    { key: 'requests', label: 'Requests to simulate', hint: '1000' },
    { key: 'prefill_copies', label: 'Prefill copies' }, { key: 'prefill_split', label: 'Prefill split', hint: 'tp=2' },
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
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Error('it is not a JSON object');
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

// The name in what a person types or pastes: an address at Hugging Face, or a name with blanks.
const modelName = (text) => text.trim().replace(/^https?:\/\/(www\.)?huggingface\.co\/([^/]+\/[^/?#]+).*$/, '$2').replace(/\s+/g, '-');

function buildForm() {
  const model = make('input', { id: 'in-model', list: 'models', autocomplete: 'off', 'aria-label': 'Model', onchange: (e) => change({ model: modelName(e.target.value) }) });
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
      make('details', { id: 'more-what-if' }, make('summary', {}, 'What if: bandwidth, peaks'),
        ...[['more_bandwidth', 'Memory bandwidth'], ['more_peak', 'Peak rates']].map(([key, label]) => make('label', {}, label, ' ', make('output', { id: `out-${key}` }),
          make('input', { type: 'range', id: `in-${key}`, min: -2, max: 2, step: 0.25, oninput: (e) => change({ [key]: e.target.value === '0' ? '' : e.target.value }) }))))),
    make('fieldset', { id: 'f-run' }, make('legend', {}, 'Work'),
      make('div', { className: 'row', role: 'group', 'aria-label': 'One pass or requests' },
        ...[['pass', 'One pass'], ['request', 'Requests']].map(([r, label]) => make('button', { type: 'button', id: `run-${r}`, onclick: () => change({ run: r }) }, label))),
      make('div', { className: 'fields' }, ...FIELDS.run.map(fieldNode))),
    group('Formats', FIELDS.formats, true),
    group('Split, drafts, cache', FIELDS.split),
    group('Limits and engine', FIELDS.limits),
    group('Load', FIELDS.load),
    make('label', { id: 'f-more' }, 'Other options', make('input', { id: 'in-more', autocomplete: 'off', placeholder: 'offload=layers:8 step_scale=1.1', onchange: (e) => changeExtra(e.target.value) })));
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

const DIMENSION_FLAGS = ['causal', 'gain'];
const DIMENSION_CHOICES = { causal: ['', '1'], gain: ['', '1'], routing: ['', 'uniform', 'balanced', 'fewest'], algorithm: ['', 'ring', 'one-shot'] };

const dimensionValue = ({ key, optional }) => state[`dim_${key}`] ?? (optional ? '' : EXAMPLES[key] ?? '1');

function dimensionNode({ key, optional }) {
  const id = `dim-${key}`;
  const onchange = (e) => change({ [`dim_${key}`]: e.target.value.trim() });
  const choices = DIMENSION_CHOICES[key];
  return make('label', {}, key.replaceAll('_', '-'), choices
    ? make('select', { id, onchange }, ...choices.map((c) => make('option', { value: c }, c === '' ? 'default' : c === '1' ? 'yes' : c)))
    : make('input', { id, autocomplete: 'off', placeholder: optional ? 'default' : '', onchange }));
}

// Inputs without a field of their own: key=value, or the key of a flag, between blanks.
function changeExtra(text) {
  const words = text.trim().split(/\s+/).filter(Boolean).map((word) => word.replace(/^--/, ''));
  const pairs = words.map((word) => [word.split('=')[0].replaceAll('-', '_'), word.includes('=') ? word.slice(word.indexOf('=') + 1) : true]);
  change({ extra: pairs.length > 0 ? JSON.stringify(Object.fromEntries(pairs)) : '' });
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
  byId('f-more').hidden = s.about !== 'model';
  for (const title of ['Split, drafts, cache', 'Limits and engine', 'Load']) byId(`more-${title}`).hidden = s.about !== 'model';
  byId('in-model').value = s.model.startsWith('{') ? `${deviceName(s.model)} (your config.json)` : s.model;
  byId('in-operator').value = s.operator;
  for (const field of Object.values(FIELDS).flat()) {
    const node = byId(`in-${field.key}`);
    const value = s[field.key] ?? '';
    if (field.flag) node.checked = value === '1'; else node.value = value;
    if (node.value !== value && field.choices) node.append(make('option', { value, selected: true }, value)); // another name of one
    node.closest('label').hidden = field.when ? !field.when(s) : false;
  }
  for (const key of ['more_bandwidth', 'more_peak']) {
    byId(`in-${key}`).value = s[key] ?? 0;
    byId(`out-${key}`).value = `${short(2 ** Number(s[key] ?? 0))}x`;
  }
  byId('in-more').value = Object.entries(JSON.parse(s.extra || '{}')).map(([key, value]) => (value === true ? key : `${key}=${value}`)).join(' ');
  byId('chips').replaceChildren(...s.hardware.map((device, i) => make('span', { className: 'chip' }, make('span', { className: 'dot', style: `background:${COLORS[i]}` }), deviceName(device),
    make('button', { type: 'button', 'aria-label': `Remove ${deviceName(device)}`, disabled: s.hardware.length === 1, onclick: () => { change({ hardware: s.hardware.filter((d) => d !== device) }); byId('add-device').focus(); } }, '×'))));
  byId('add-device').value = '';
  // Fields are made anew for another operator only: the next one may be getting the focus.
  const box = byId('dimensions'), dimensions = s.about === 'operator' ? dimensionsOf(s.operator) : [];
  if (box.dataset.of !== s.operator) box.replaceChildren(...dimensions.map(dimensionNode));
  box.dataset.of = dimensions.length > 0 ? s.operator : '';
  for (const dimension of dimensions) byId(`dim-${dimension.key}`).value = dimensionValue(dimension);
}

// --- questions ------------------------------------------------------------------------------------

const PASSED_ON = ['precision', 'kv', 'layout', 'class', 'weights', 'activations', 'out', 'compute', 'stack', 'sparse'];
const SPLIT = FIELDS.split.map((f) => f.key);
const MODEL_PASSED_ON = ['batch', ...SPLIT, ...PASS_ONLY, ...REQUEST_ONLY];

const LISTS = ['class', 'price_per_hour']; // options that may be given several times
const FLAGS = new Set(Object.values(FIELDS).flat().filter((f) => f.flag).map((f) => f.key));

function given(s, keys) {
  const inputs = {};
  for (const key of keys) if (s[key] !== undefined && s[key] !== '') inputs[key] = FLAGS.has(key) ? true : LISTS.includes(key) ? s[key].split(/[\s,]+/).filter(Boolean) : s[key];
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
    const inputs = { operator: s.operator, ...where, ...given(s, PASSED_ON.filter((k) => !['layout', 'class'].includes(k))) };
    for (const dimension of dimensionsOf(s.operator)) {
      const { key } = dimension, value = dimensionValue(dimension);
      if (value !== '') inputs[key] = DIMENSION_FLAGS.includes(key) ? value !== '0' : value;
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
    else if (LISTS.includes(key)) for (const one of value) words.push(option, one);
    else if (key === 'set') for (const [figure, number] of Object.entries(value)) words.push(option, `${figure}=${number}`);
    else if (value !== false) words.push(option, typeof value === 'object' && !Array.isArray(value) ? `${deviceName(JSON.stringify(value))}.json` : String(value));
  }
  return words.map((w) => shellWord(String(w))).join(' ');
}
