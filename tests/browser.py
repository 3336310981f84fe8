# SPDX-License-Identifier: MIT
"""The explorer in headless Chromium, driven over WebDriver: python3 tests/browser.py PROGRAM [PICTURES]

What a reader sees must be what the program prints, and each control must change the question. PICTURES is a folder
for pictures of every view: light, dark, narrow and as printed. AXE in the environment names axe.min.js, which looks for
what keeps people from using a page; where firefox-esr is, it shows the page, too.
"""

import base64
import csv
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
import xml.etree.ElementTree
import zlib

from browser_look import check_access, check_budgets, check_firefox, check_forced_colors, check_motion, check_print, check_widths, take_pictures
from webdriver import Browser, CARDS, DRAWN, ERROR, IDLE, run, short, strike, wait

HOSTILE = '</script><script>window.harm = 1</script>'


# --- what a reader sees ------------------------------------------------------------------------

def check_figures(browser, page, failures):
    """The figures of the cards are those of the program."""
    for arguments, fragment, keys in (
            (['model', 'llama-3-8b', '-H', 'h200', '--batch', '16'], 'hardware=h200&batch=16', ('expected_tpot_ms', 'tpot_ms')),
            (['model', 'llama-3-8b', '-H', 'dgx-spark', '-p', 'fp8', '--phase', 'prefill'],
             'hardware=dgx-spark&precision=fp8&phase=prefill', ('expected_ttft_ms', 'ttft_ms')),
            (['model', 'mixtral-8x7b', '-H', 'h100-sxm', '--tp', '2', '--batch', '8', '--prompt', '1000', '--generate', '100'],
             'model=mixtral-8x7b&tp=2&batch=8&run=request&prompt=1000&generate=100', ('expected_ttft_ms', 'expected_tpot_ms')),
            (['model', 'deepseek-r1', '-H', 'mi300x', '--tp', '8'], 'model=deepseek-r1&hardware=mi300x&tp=8', ('tpot_ms',))):
        document = json.loads(run('predict', *arguments, '-f', 'json'))
        browser.open('/dev/null')
        browser.open(f'{page}#{fragment}')
        wait(browser, IDLE, fragment)
        card = browser.js(CARDS)[0]
        for key in keys:
            if short(document[key]) not in card:
                failures.append(f'{fragment}: {key} {short(document[key])} is not in: {card}')


CHANGE = """
const node = document.getElementById(arguments[0]);
if (node.type === 'checkbox') node.click();
else { node.value = arguments[1]; node.dispatchEvent(new Event(node.type === 'range' ? 'input' : 'change')); }"""


# Where a control means something only there.
DRAFTS, EXPERTS, REQUESTS = "{acceptance: '0.7', draft_tokens: '2'}", "{model: 'mixtral-8x7b', tp: '2', hardware: ['h200']}", "{run: 'request', batch: '4'}"
BEGIN_AT = {'in-more_peak': "{phase: 'prefill'}", 'in-compute': "{phase: 'prefill'}", 'in-activations': "{phase: 'prefill', weights: 'fp8_e4m3'}", 'in-draft_tokens': DRAFTS, 'in-draft_model': "{model: 'deepseek-r1', hardware: ['b300'], tp: '8', precision: 'fp8_e4m3', draft_tokens: '2', acceptance: '0.7'}",
            'in-acceptance': DRAFTS, 'in-ep': EXPERTS, 'in-attention_dp': EXPERTS, 'in-moe_tp': EXPERTS, 'in-moe_ep': EXPERTS,
            **dict.fromkeys(('in-prompt', 'in-generate', 'in-static', 'in-chunk', 'in-prefix_hit'), REQUESTS)}


def check_controls(browser, page, failures):
    """Each control changes the question, undo takes it back, and every view is drawn."""
    browser.open('/dev/null')
    browser.open(page)
    wait(browser, IDLE, 'the beginning')
    before = browser.js(CARDS)
    for control, value in (('in-batch', '64'), ('in-context', '100000'), ('in-phase', 'prefill'), ('in-precision', 'fp8_e4m3'),
                           ('in-kv', 'fp8_e4m3'), ('in-layout', 'q4_k_m'), ('in-stack', 'vllm'), ('in-tp', '2'), ('in-dp', '2'), ('in-model', 'qwen3-8b'),
                           ('in-weights', 'int4'), ('in-activations', 'fp8_e4m3'), ('in-out', 'fp32'), ('in-compute', 'fp32'), ('in-sparse', ''), ('in-class', 'lm_head=fp8, embedding=fp8'),
                           ('in-pp', '2'), ('in-more', 'step_scale=2'), ('in-more_bandwidth', '1'), ('in-more_peak', '-1'), ('add-device', 'h200'),
                           ('in-draft_tokens', '3'), ('in-draft_model', 'none'), ('in-acceptance', '0.9'), ('in-ep', '8'), ('in-attention_dp', '2'), ('in-moe_tp', '1'), ('in-moe_ep', '2'),
                           ('in-prompt', '100'), ('in-generate', '50'), ('in-static', ''), ('in-prefix_hit', '0.5'), ('in-chunk', '512')):
        begin = BEGIN_AT.get(control)
        if begin:
            browser.js(f'change({begin})')
            wait(browser, IDLE, control)
            before = browser.js(CARDS)
        browser.js(CHANGE, control, value)
        wait(browser, IDLE, control)
        if browser.js(CARDS) == before:
            failures.append(f'{control} changes nothing')
        browser.js('change({...Object.fromEntries(Object.keys(state).map(k => [k, undefined])), ...START})')
        wait(browser, IDLE, 'start again')
        before = browser.js(CARDS)
    browser.js(CHANGE, 'in-batch', '64')
    wait(browser, IDLE, 'batch')
    browser.js("document.getElementById('undo').click()")
    wait(browser, "return state.batch === '1' && pending === null", 'undo')
    for about in ('model', 'operator'):
        browser.js("document.getElementById(arguments[0]).click()", f'about-{about}')
        wait(browser, IDLE, about)
        browser.js("change({hardware: ['h100-sxm', 'h200']})")
        wait(browser, IDLE, 'two devices')
        for view in browser.js("return [...document.querySelectorAll('[role=tab]')].map(t => t.id)"):
            browser.js('document.getElementById(arguments[0]).click()', view)
            wait(browser, DRAWN, view)
            if browser.js(ERROR):
                failures.append(f'{view}: {browser.js(ERROR)}')


ASKED = 'return arguments[0] === "recommend" ? planInputs() : arguments[0] === "all" ? answers[0].inputs : {...loadInputs(answers[0]), ...askedInputs(answers[0])}'


def check_limits(browser, page, failures):
    """The fields of plans and of a load are in their questions."""
    browser.open('/dev/null')
    browser.open(page)
    wait(browser, IDLE, 'the beginning')
    for command, fields in (
            ('recommend', {'devices': '2', 'concurrency': '4', 'max_ttft': '1s', 'max_tpot': '30ms', 'max_accuracy_loss': '<1%', 'objective': 'latency', 'engine': 'vllm', 'price_per_hour': 'h100-sxm=3'}),
            ('simulate', {'rate': '5', 'arrivals': 'gamma:2', 'prompt_lengths': 'uniform:100:300', 'generate_lengths': '50', 'max_e2e': 'p90:20s', 'max_num_seqs': '64', 'requests': '300', 'prefill_copies': '1', 'prefill_split': 'tp=2', 'engine': 'vllm'})):
        for key, value in fields.items():
            browser.js(CHANGE, f'in-{key}', value)
            wait(browser, IDLE, key)
            inputs = browser.js(ASKED, command)
            if inputs.get(key.replace('_lengths', '')) not in (value, [value]):
                failures.append(f'{command} is not asked with {key}: {inputs}')
        browser.js("document.getElementById('tab-' + arguments[0]).click()", 'plans' if command == 'recommend' else 'load')
        wait(browser, DRAWN, command)
        if browser.js(ERROR) or not browser.js("return document.querySelectorAll('#view tbody tr').length"):
            failures.append(f'{command} with all its fields: {browser.js(ERROR)} {browser.js("return document.getElementById(`view`).textContent")[:300]}')


def check_operators(browser, page, failures):
    """Each operator is answered as by the program, and each of its dimensions is a control."""
    values = {'causal': '1', 'gain': '1', 'routing': 'balanced', 'algorithm': 'one-shot', 'ep': '2', 'within': '8', 'window': '64', 'heads': '16'}
    browser.open('/dev/null')
    browser.open(f'{page}#about=operator')
    wait(browser, IDLE, 'the beginning')
    for row in json.loads(run('list', 'operators', '-f', 'json')):
        browser.js(CHANGE, 'in-operator', row['name'])
        wait(browser, IDLE, row['name'])
        for word in row['dimensions'].split():
            key = word.strip('[]').lstrip('-').replace('-', '_')
            if not word.startswith('['):
                continue
            browser.js(CHANGE, f'dim-{key}', values.get(key, '4'))
            wait(browser, IDLE, key)
            asked = browser.js(ASKED, 'all').get(key)
            if browser.js(ERROR) or asked not in (True, values.get(key, '4')):
                failures.append(f'{row["name"]}, {key}: asked with {asked}: {browser.js(ERROR)}')
        _, *words = shlex.split(browser.js("return commandLine('predict', answers[0].inputs)"))
        if json.loads(run(*words, '-f', 'json')) != browser.js('return answers[0].prediction'):
            failures.append(f'{row["name"]} is answered otherwise by {words}')
        browser.js("change({...Object.fromEntries(Object.keys(state).filter(k => k.startsWith('dim_')).map(k => [k, undefined]))})")
        wait(browser, IDLE, 'without dimensions')


TAB, ENTER, RIGHT, BLANK = '\ue004', '\ue007', '\ue014', ' '
FOCUSED = "const n = document.activeElement; return [n.id, n.tagName, n.textContent.slice(0, 30)]"


def check_keyboard(browser, page, failures):
    """A keyboard alone reaches everything: the answer past the form, fields, views and dots."""
    browser.open('/dev/null')
    browser.open(f'{page}#batch=8')
    wait(browser, IDLE, 'the beginning')
    strike(browser, TAB)
    if browser.js(FOCUSED)[0] != 'skip':
        failures.append(f'the first stop is {browser.js(FOCUSED)}')
    strike(browser, ENTER)
    if browser.js(FOCUSED)[0] != 'answer' or browser.js('return state.batch') != '8':
        failures.append(f'past the form: {browser.js(FOCUSED)}, batch {browser.js("return state.batch")}')
    for _ in range(20):
        strike(browser, TAB)
        if browser.js(FOCUSED)[0] == 'tab-roofline':
            break
    strike(browser, RIGHT)
    wait(browser, "return state.view === 'operators' && document.activeElement.id === 'tab-operators'", 'the next view by a key')
    browser.js("document.getElementById('tab-roofline').click()")
    wait(browser, DRAWN, 'the roofline')
    browser.js("document.getElementById('skip').focus()")
    stops = []
    while len(stops) < 150:
        strike(browser, TAB)
        stop = browser.js("const n = document.activeElement; return [n.id || n.getAttribute('aria-label') || n.textContent.slice(0, 30), n.matches('body')]")
        if stop[1]:
            break
        stops.append(stop[0])
        if stop[0] == 'in-batch':
            browser.js('document.activeElement.select()')
            strike(browser, '1', '6', ENTER)
            wait(browser, "return state.batch === '16' && pending === null", 'a batch that is typed')
    reached = set(stops)
    missing = {'undo', 'reset', 'theme', 'about-operator', 'in-model', 'add-device', 'in-phase', 'in-batch', 'in-precision', 'in-more', 'tab-roofline', 'Zoom in', 'Save as SVG'} - reached
    if missing or not any('of the time' in stop for stop in stops):
        failures.append(f'a keyboard does not reach {missing}: {stops}')
    browser.js("document.querySelector('#view circle').focus()")
    strike(browser, BLANK)
    wait(browser, "return document.querySelector('#details pre') !== null", 'the formula of a dot by a key')
    browser.js("change({about: 'operator', view: 'roofline'})")
    wait(browser, IDLE, 'an operator')
    browser.js("document.getElementById('dim-m').select()")
    strike(browser, '3', '2', TAB)
    wait(browser, "return state.dim_m === '32' && pending === null", 'a dimension that is typed')
    if browser.js(FOCUSED)[0] != 'dim-n':
        failures.append(f'behind a dimension that is typed the focus is at {browser.js(FOCUSED)}')


def check_new_user(browser, page, failures):
    """By what a new reader types and presses: Llama 3 8B on two devices, and what limits it."""
    browser.open('/dev/null')
    browser.open(page)
    wait(browser, IDLE, 'the beginning')
    for text in ('Llama 3 8B', 'https://huggingface.co/meta-llama/Meta-Llama-3-8B?library=vllm'):
        browser.js("change({model: 'qwen3-8b'})")
        browser.js(CHANGE, 'in-model', text)
        wait(browser, IDLE, text)
        if browser.js('return answers[0].prediction.model') != 'llama-3-8b':
            failures.append(f'{text} is {browser.js(CARDS)}')
    browser.js(CHANGE, 'in-model', 'somebody/something')
    if 'No built-in model' not in wait(browser, ERROR, 'a model that is nowhere'):
        failures.append(f'a model that is nowhere: {browser.js(ERROR)}')
    browser.js(CHANGE, 'in-model', 'llama3')
    wait(browser, ERROR, 'a model that is spelled otherwise')
    browser.js("[...document.querySelectorAll('#error button')].find(b => b.textContent === 'llama-3-8b').click()")
    wait(browser, "return pending === null && answers.length === 1 && document.getElementById('error').hidden", 'the model that is offered')
    browser.js(CHANGE, 'add-device', 'l40s')
    wait(browser, 'return pending === null && answers.length === 2', 'a second device')
    for card, device in zip(browser.js(CARDS), ('h100-sxm', 'l40s')):
        document = json.loads(run('predict', 'model', 'llama-3-8b', '-H', device, '-f', 'json'))
        if f'limited by {document["expected_bottleneck"]}' not in card or short(document['expected_tpot_ms']) not in card:
            failures.append(f'a new reader on {device}: {card}')


def check_start(browser, folder, failures):
    """A page begins at the question that it was written for, whatever its texts are."""
    page = os.path.join(folder, 'start.html')
    run('sweep', 'model', 'qwen3-8b', '-H', 'l40s,h200', '--batch', '1:8:x2', '-p', 'fp8', '-o', page)
    browser.open(page)
    wait(browser, IDLE, 'a sweep')
    state = browser.js('return state')
    if (state['model'], state['hardware'], state['batch'], state['view']) != ('qwen3-8b', ['l40s', 'h200'], '1', 'batch'):
        failures.append(f'a sweep begins at {state}')
    run('predict', 'model', HOSTILE, '-H', 'h100-sxm', '-o', page)
    browser.open(page)
    wait(browser, ERROR, 'an unknown model')
    if browser.js('return window.harm'):
        failures.append('the text of a question is run')


def check_load(browser, folder, failures):
    """The rate of a load is marked with what the program says, and the curves have their dots."""
    page = os.path.join(folder, 'load.html')
    asked = ('llama-3-8b', '-H', 'h100-sxm', '--prompt', 'uniform:500:1500', '--generate', '200', '--seed', '3')
    for more, key in ((('--rate', '5'), 'rate_per_s'), (('--max-ttft', 'p99:200ms'), 'max_rate_per_s'), (('--concurrency', '16'), 'completed_per_s')):
        run('simulate', *asked, *more, '-o', page)
        document = json.loads(run('simulate', *asked, *more, '-f', 'json'))
        browser.open(page)
        wait(browser, DRAWN, f'load {more}')
        row = browser.js("return [...document.querySelectorAll('#view tr.chosen td')].map(t => t.textContent)")
        wanted = [short(document[name]) for name in ('ttft_ms_p50', 'ttft_ms_p99', 'tpot_ms_p50', 'tpot_ms_p99')]
        if row[4:8] != wanted or browser.js('return state.prompt') != '1000':
            failures.append(f'load {more}: {row}, not {wanted}: {browser.js(ERROR)}')
        if row[11] != short(100 * document['kv_use']):
            failures.append(f'load {more}: {row[11]}% of the cache, not {100 * document["kv_use"]}%')
        dots = browser.js("return [...document.querySelectorAll('#view svg circle')].map(c => c.getAttribute('aria-label'))")
        if len(dots) < 36 or not any(f'{short(document[key])} requests/s, as asked' in dot for dot in dots):
            failures.append(f'load {more}: {len(dots)} dots: {dots[:3]}')
    helps = browser.js("return document.getElementById('help-0').textContent")
    if not re.search(r'would help: .*\(\d\.\d+x\)', helps):
        failures.append(f'would help: {helps}')


def check_plan(browser, folder, failures):
    """A plan that is chosen is asked for: its times stand in the card, and its operators are those of a step."""
    page = os.path.join(folder, 'plans.html')
    priced = ('model', 'llama-3-8b', '-H', 'h100-sxm', '--prompt', '1k', '--generate', '100', '--by', 'ideal', '--price-per-hour', 'h100-sxm=3')
    run('recommend', *priced, '-o', page)
    best = json.loads(run('recommend', *priced, '-f', 'json'))['candidates'][0]
    browser.open(page)
    wait(browser, "return document.querySelector('tbody button') !== null", 'plans with a price')
    seen = browser.js("return document.querySelector('#view tbody tr').textContent")
    if short(best['cost_per_million_tokens']) not in seen or short(best['tokens_per_s']) not in seen:
        failures.append(f'the first plan with a price: {seen}, not {best}')
    browser.js("change({hardware: ['mi300x']})")
    wait(browser, "return /would help: .*x\\)/.test(document.getElementById('help-0').textContent)", 'what would help by bounds')
    browser.js("change({model: 'deepseek-r1', hardware: ['h200'], tp: '8', run: 'pass', by: '', extra: '', view: 'roofline'})")
    wait(browser, "return /would fit: .*fp8/.test(document.getElementById('help-0').textContent)", 'what would fit')
    browser.js("change({model: 'meta-llama/Llama-3.3-70B-Instruct', view: 'roofline'})")
    wait(browser, IDLE, 'a name at Hugging Face')
    asked = ('model', 'deepseek-r1', '-H', 'h200', '--devices', '8', '--prompt', '4k', '--generate', '1000', '--tp', '1', '--ep', '8')
    run('recommend', *asked, '-o', page)
    best = json.loads(run('recommend', *asked, '-f', 'json'))['candidates'][0]
    browser.open(page)
    wait(browser, "return document.querySelector('tbody button') !== null", 'plans')
    browser.js("document.querySelector('tbody button').click()")
    wait(browser, IDLE, 'a plan')
    seen = browser.js('return [answers[0].prediction.expected_ttft_ms, answers[0].prediction.expected_tpot_ms]')
    if seen != [best['expected_ttft_ms'], best['expected_tpot_ms']]:
        failures.append(f'the plan that was chosen has {seen} ms: {browser.js("return [state, answers[0].inputs]")}')
    if browser.js("return document.querySelectorAll('#view svg .point').length") < 3:
        failures.append('a request has no operators in its roofline')


# --- files, copies, long work -----------------------------------------------------------------

CONFIG = {'model_type': 'llama', 'hidden_size': 2048, 'num_hidden_layers': 16, 'vocab_size': 32000, 'num_attention_heads': 16,
          'num_key_value_heads': 4, 'intermediate_size': 5632, 'torch_dtype': 'bfloat16'}
DEVICE = {'memory_gb': 96, 'bandwidth_gb_s': 4321, 'peak_tflops': {'bf16': 1000, 'fp16': 1000}}


def drop(browser, zone, path):
    """Drags a file over a zone and drops it there."""
    x, y = browser.js("""const zone = document.querySelectorAll('.drop')[arguments[0]];
        zone.scrollIntoView({block: 'center'});
        const box = zone.getBoundingClientRect(); return [box.x + 8, box.y + 8];""", zone)
    for kind in ('dragEnter', 'dragOver', 'drop'):
        browser.devtools('Input.dispatchDragEvent', type=kind, x=x, y=y, data={'items': [], 'files': [path], 'dragOperationsMask': 1})


def check_files(browser, page, folder, failures):
    """A config.json and a device file that are dropped or chosen are asked for like those of the command line."""
    paths = {}
    for name, text in (('tiny.json', json.dumps(CONFIG)), ('mine.json', json.dumps(DEVICE)), ('broken.json', '{"hidden_size": ')):
        paths[name] = os.path.join(folder, name)
        with open(paths[name], 'w', encoding='utf-8') as file:
            file.write(text)
    browser.open('/dev/null')
    browser.open(page)
    wait(browser, IDLE, 'the beginning')
    drop(browser, 0, paths['tiny.json'])
    wait(browser, "return state.model.startsWith('{') && pending === null", 'a model that is dropped')
    drop(browser, 1, paths['mine.json'])
    wait(browser, 'return state.hardware.length === 2 && pending === null && answers.length === 2', 'a device that is dropped')
    cards = browser.js(CARDS)
    for card, device in zip(cards, ('h100-sxm', paths['mine.json'])):
        document = json.loads(run('predict', 'model', paths['tiny.json'], '-H', device, '-f', 'json'))
        if short(document['tpot_ms']) not in card:
            failures.append(f'files that are dropped: {short(document["tpot_ms"])} is not in: {card}')
    if 'tiny' not in browser.js("return document.getElementById('in-model').value") or 'mine' not in cards[1]:
        failures.append('files that are dropped have no names')
    drop(browser, 0, paths['broken.json'])
    if 'broken.json' not in wait(browser, ERROR, 'a file that is no JSON'):
        failures.append(f'a file that is no JSON: {browser.js(ERROR)}')
    browser.js("change({hardware: ['h100-sxm'], model: 'llama-3-8b'})")
    wait(browser, IDLE, 'a model by its name')
    for zone, name, key in ((0, 'tiny.json', 'model'), (1, 'mine.json', 'hardware')):
        found = browser.call('POST', '/elements', {'using': 'css selector', 'value': '.drop input[type=file]'})
        browser.call('POST', f'/element/{next(iter(found[zone].values()))}/value', {'text': paths[name]})
        wait(browser, f"return String(state.{key}).includes('{{') && pending === null", f'{name} that is chosen')


def press(browser, label):
    browser.js("[...document.querySelectorAll('#view button')].find(b => b.textContent === arguments[0]).click()", label)


def fetched(folder, name):
    """The bytes of a file that the browser saves."""
    path = os.path.join(folder, name)
    for _ in range(200):
        if os.path.exists(path) and os.path.getsize(path) > 0:
            with open(path, 'rb') as file:
                data = file.read()
            os.remove(path)
            return data
        time.sleep(0.05)
    raise AssertionError(f'{name} is not saved')


def png_rows(data):
    """Width, height and different rows of an image; its sums must be right."""
    assert data[:8] == b'\x89PNG\r\n\x1a\n', 'no PNG'
    at, chunks = 8, {}
    while at < len(data):
        length, kind = int.from_bytes(data[at:at + 4], 'big'), data[at + 4:at + 8]
        body = data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == int.from_bytes(data[at + 8 + length:at + 12 + length], 'big'), f'{kind} is damaged'
        chunks[kind] = chunks.get(kind, b'') + body
        at += 12 + length
    assert kind == b'IEND', 'the PNG has no end'
    width, height = (int.from_bytes(chunks[b'IHDR'][i:i + 4], 'big') for i in (0, 4))
    pixels = zlib.decompress(chunks[b'IDAT'])
    assert len(pixels) == height * (1 + width * {2: 3, 6: 4}[chunks[b'IHDR'][9]]), 'rows are missing'
    step = len(pixels) // height
    return width, height, len({pixels[i:i + step] for i in range(0, len(pixels), step)})


PAINTED = """const [data, color, done] = arguments, image = new Image();
image.onerror = () => done(-1);
image.onload = () => {
  const canvas = document.createElement('canvas');
  canvas.width = image.width; canvas.height = image.height;
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const {data: all} = context.getImageData(0, 0, canvas.width, canvas.height);
  const [r, g, b] = [1, 3, 5].map(i => parseInt(color.slice(i, i + 2), 16));
  let found = 0;
  for (let i = 0; i < all.length; i += 4) found += all[i] === r && all[i + 1] === g && all[i + 2] === b;
  done(found);
};
image.src = data;"""


def check_image(browser, saved, view, theme, failures):
    """SVG and PNG of a chart are images of it, with the colours of the page."""
    drawn = browser.js("return ['circle', 'polyline', 'rect', 'path'].map(n => document.querySelectorAll(`#view svg ${n}`).length)")
    color = browser.js("return getComputedStyle(document.documentElement).getPropertyValue('--c0').trim()")
    press(browser, 'SVG')
    svg = fetched(saved, f'{view}.svg')
    root = xml.etree.ElementTree.fromstring(svg)
    found = [len(root.findall('.//{http://www.w3.org/2000/svg}' + name)) for name in ('circle', 'polyline', 'rect', 'path')]
    if root.tag != '{http://www.w3.org/2000/svg}svg' or found != drawn or b'var(' in svg:
        failures.append(f'SVG, {view}, {theme}: {root.tag}, {found} circles, lines, boxes and paths, not {drawn}')
    press(browser, 'PNG')
    png = fetched(saved, f'{view}.png')
    width, height, rows = png_rows(png)
    if (width, height) != (2 * int(root.get('width')), 2 * int(root.get('height'))) or rows < height / 10:
        failures.append(f'PNG, {view}, {theme}: {width} x {height}, {rows} different rows')
    for kind, data in (('svg+xml', svg), ('png', png)):
        painted = browser.later(PAINTED, f'data:image/{kind};base64,{base64.b64encode(data).decode()}', color)
        if painted < 500:
            failures.append(f'{kind}, {view}, {theme}: {painted} pixels have the colour {color} of the device')


SPAN = 'return Object.values(spans.roofline.span ?? {}).map(([low, high]) => Math.log(high / low))'


def check_views(browser, page, failures):
    """Charts zoom on both axes, tables sort and search, dots and boxes say what they stand for."""
    browser.open('/dev/null')
    browser.open(f'{page}#batch=8&hardware=h100-sxm&hardware=l40s')
    wait(browser, DRAWN, 'the roofline')
    press_titled = "[...document.querySelectorAll('#view button')].find(b => b.title === arguments[0]).click()"
    browser.js(press_titled, 'Zoom in')
    near = browser.js(SPAN)
    browser.js(press_titled, 'Whole chart')
    whole = browser.js(SPAN)
    browser.js("""const svg = document.querySelector('#view svg'), box = svg.getBoundingClientRect();
        for (const ctrlKey of [false, true]) svg.dispatchEvent(new WheelEvent('wheel', {deltaY: -1, ctrlKey, clientX: box.x + 200, clientY: box.y + 200, cancelable: true}));""")
    wheel = browser.js(SPAN)
    for what, span, factor in (('buttons', near, 1 / 1.4), ('the wheel', wheel, 1 / 1.18)):
        if [round(a / b / factor, 6) for a, b in zip(span, whole)] != [1, 1]:
            failures.append(f'zoom by {what}: spans of {span}, of {whole} in all')
    document = json.loads(run('predict', 'model', 'llama-3-8b', '-H', 'h100-sxm', '--batch', '8', '-f', 'json'))
    parts = [document[key] for key in ('weights_memory_bytes', 'kv_cache_bytes', 'activation_memory_bytes', 'memory_reserve_bytes')]
    seen = browser.js("return [...document.querySelectorAll('.card:first-child .bar i')].map(n => parseFloat(n.style.width))")
    if any(abs(width - 100 * part / document['memory_capacity_bytes']) > 0.01 for width, part in zip(seen, parts, strict=True)):
        failures.append(f'the memory bar: {seen}, not {parts}')
    browser.js("document.getElementById('tab-operators').click()")
    wait(browser, DRAWN, 'the operators')
    column = 'return [...document.querySelectorAll(`#view tbody td:nth-child(${arguments[0]})`)].map(t => t.textContent)'
    for down in (True, False):
        browser.js("[...document.querySelectorAll('#view th button')].find(b => b.textContent.startsWith('bound')).click()")
        bounds = [float(text.replace(',', '')) for text in browser.js(column, 5)]
        if bounds != sorted(bounds, reverse=down) or len(bounds) != len(document['operators']):
            failures.append(f'operators by their bounds: {bounds}')
    browser.js("const s = document.getElementById('search'); s.value = 'proj'; s.dispatchEvent(new Event('input'))")
    if set(browser.js(column, 1)) != {o['name'] for o in document['operators'] if 'proj' in o['name']}:
        failures.append(f'operators with proj: {browser.js(column, 1)}')
    browser.js("[...document.querySelectorAll('#view tbody button')].find(b => b.textContent === 'down_proj').click()")
    details = wait(browser, "return document.querySelector('#details pre') && document.getElementById('details').textContent", 'details')
    operator = next(o for o in document['operators'] if o['name'] == 'down_proj')
    share = f'weights {short(100 * operator["weights_bytes"] / operator["bytes"])}%'
    if share not in details or '= 2 * 1 * 8 * 4096 * 14336' not in details:
        failures.append(f'down_proj: {share} is not in {details[:300]}')
    browser.js("document.getElementById('tab-pareto').click()")
    wait(browser, DRAWN, 'the front')
    browser.js("[...document.querySelectorAll('#view circle')].find(c => /h100-sxm, batch 32:/.test(c.getAttribute('aria-label'))).dispatchEvent(new MouseEvent('click'))")
    wait(browser, "return state.batch === '32' && pending === null", 'a batch that is chosen in the front')
    for kind in ('batch', 'context'):
        browser.js("change({view: 'batch'})")
        wait(browser, DRAWN, 'latency')
        point = json.loads(run('predict', 'model', 'llama-3-8b', '-H', 'l40s', '--batch', '32' if kind == 'context' else '4', '--context', '1024', '-f', 'json'))
        note = f'l40s, batch 32, context 1024: {short(point["expected_tpot_ms"])} ms' if kind == 'context' else f'l40s, context 1,024, batch 4: {short(point["expected_tpot_ms"])} ms'
        if note not in browser.js("return [...document.querySelectorAll('#view circle')].map(c => c.getAttribute('aria-label'))"):
            failures.append(f'latency over {kind}: no dot says {note}')


def check_copies(browser, page, folder, failures):
    """Images, texts and commands that the page hands out are what they say."""
    saved = os.path.join(folder, 'saved')
    os.makedirs(saved, exist_ok=True)
    browser.devtools('Page.setDownloadBehavior', behavior='allow', downloadPath=saved)
    browser.open('/dev/null')
    browser.open(f'{page}#batch=8&precision=fp8&tp=2')
    wait(browser, IDLE, 'a chart')
    for view in ('roofline', 'layer'):
        for theme in ('light', 'dark'):
            browser.js("setTheme(arguments[0]); document.getElementById(`tab-${arguments[1]}`).click()", theme, view)
            wait(browser, DRAWN, view)
            check_image(browser, saved, view, theme, failures)
    browser.js("document.getElementById('tab-report').click()")
    wait(browser, DRAWN, 'a report')
    browser.js("Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})")
    press(browser, 'Copy the command')
    _, *asked = shlex.split(wait(browser, 'return window.copied', 'the command'))
    wanted = ['predict', 'model', 'llama-3-8b', '--batch', '8', '--precision', 'fp8', '--tp', '2']
    if set(wanted) - set(asked) or json.loads(run(*asked, '-f', 'json')) != browser.js('return answers[0].prediction'):
        failures.append(f'the command that is copied asks something else: {asked}')
    for label, form in (('JSON', 'json'), ('CSV', 'csv'), ('MD', 'md'), ('TXT', 'text')):
        press(browser, label)
        if fetched(saved, f'llama-3-8b-h100-sxm.{label.lower()}').decode() != run(*asked, '-f', form):
            failures.append(f'{label} is not what the program prints')
    browser.js("document.getElementById('tab-operators').click()")
    wait(browser, DRAWN, 'the operators')
    press(browser, 'CSV')
    rows = list(csv.DictReader(fetched(saved, 'operators.csv').decode().splitlines()))
    operators = json.loads(run(*asked, '-f', 'json'))['operators']
    if {(row['operator'], row['count'], row['bound, µs']) for row in rows} != {(o['name'], str(o['count']), short(o['time_us']).replace(',', '')) for o in operators}:
        failures.append(f'the table of operators as CSV: {rows[:2]}')
    browser.js("document.getElementById('tab-report').click()")
    wait(browser, DRAWN, 'a report')
    press(browser, 'Copy a link')
    wait(browser, "return window.copied === location.href", 'the link')


def check_cancel(browser, page, failures):
    """Long work does not stop the page; it ends when it is cancelled, and the next question is answered."""
    browser.open('/dev/null')
    browser.open(page)
    wait(browser, IDLE, 'the beginning')
    browser.js("change({view: 'load', rate: '20', requests: '1000000'})")
    wait(browser, "return !document.getElementById('busy').hidden && pending.count > 0", 'long work')
    begin = time.monotonic()
    browser.js("const old = worker, end = worker.terminate; worker.terminate = () => { window.ended = true; end.call(old); };")
    browser.js("document.getElementById('cancel').click()")
    wait(browser, "return pending === null && document.getElementById('busy').hidden", 'the end of long work')
    took = time.monotonic() - begin
    if took > 1 or 'Cancelled' not in browser.js(ERROR):
        failures.append(f'cancelled after {took:.1f} s: {browser.js(ERROR)}')
    time.sleep(0.5)
    if browser.js("return !window.ended || pending !== null || document.querySelector('#view svg') !== null"):
        failures.append('work goes on after it is cancelled')
    browser.js("state = {...state, requests: '200'}")
    press(browser, 'Ask again')
    wait(browser, "return document.querySelectorAll('#view svg').length === 2 && pending === null", 'the work that is asked again')
    browser.js("change({view: 'roofline', rate: '', requests: '', batch: '64'})")
    wait(browser, IDLE, 'a question after that')
    document = json.loads(run('predict', 'model', 'llama-3-8b', '-H', 'h100-sxm', '--batch', '64', '-f', 'json'))
    if short(document['tpot_ms']) not in browser.js(CARDS)[0] or browser.js(ERROR):
        failures.append(f'after cancelling: {browser.js(CARDS)} {browser.js(ERROR)}')
    browser.js("change({view: 'load', rate: '20', requests: '1000000'})")
    wait(browser, "return !document.getElementById('busy').hidden", 'long work again')
    browser.js("document.getElementById('cancel').click(); change({view: 'roofline', rate: '', requests: ''})")
    wait(browser, DRAWN, 'a view after that')


GRAPH = """const rect = (n) => { const r = n.querySelector('rect'); return ['x', 'y', 'width', 'height'].map(k => Number(r.getAttribute(k))); };
const boxes = [...document.querySelectorAll('#view .box')].map(n => [n.querySelector('text').textContent.trim(), rect(n)]);
const [, , w, h] = document.querySelector('#view svg').getAttribute('viewBox').split(' ').map(Number);
return {boxes, size: [w, h], arrows: [...document.querySelectorAll('#view .arrow')].map(a => [a.dataset.from, a.dataset.to, a.getAttribute('stroke-dasharray') !== 'none'])};"""


def check_graph(browser, page, failures):
    """The boxes of a layer are its operators, and the arrows what each of them reads."""
    for arguments, fragment in ((['llama-3-8b', '-H', 'h100-sxm'], ''), (['command-a', '-H', 'h200', '--tp', '2'], 'model=command-a&hardware=h200&tp=2'),
                                (['deepseek-v3.2', '-H', 'h200', '--tp', '8', '--context', '9000'], 'model=deepseek-v3.2&hardware=h200&tp=8&context=9000'),
                                (['falcon-h1-0.5b', '-H', 'h100-sxm', '--pp', '2'], 'model=falcon-h1-0.5b&pp=2')):
        operators = json.loads(run('predict', 'model', *arguments, '-f', 'json'))['operators']
        names = {o['name'] for o in operators}
        wanted = {(name, o['name'], key == 'reads_before') for o in operators for key in ('reads', 'reads_before') for name in o.get(key, []) if name in names}
        for width in (1400, 390):
            browser.width(width)
            browser.open('/dev/null')
            browser.open(f'{page}#{fragment}&view=layer')
            wait(browser, DRAWN, fragment)
            seen = browser.js(GRAPH)
            arrows = {tuple(arrow) for arrow in seen['arrows']}
            boxes = dict((name, box) for name, box in seen['boxes'])
            if set(boxes) != names or len(seen['boxes']) != len(names):
                failures.append(f'{fragment}: the boxes are not the operators: {sorted(names ^ set(boxes))}')
            if arrows != wanted or len(seen['arrows']) != len(wanted):
                failures.append(f'{fragment}: arrows that differ: {sorted(arrows ^ wanted)}')
            for name, (x, y, w, h) in boxes.items():
                if x < 0 or y < 0 or x + w > seen['size'][0] or y + h > seen['size'][1] or w < 150:
                    failures.append(f'{fragment}: {name} does not lie in the picture')
                failures += [f'{fragment}: {name} lies on {other}' for other, (x2, y2, w2, h2) in boxes.items()
                             if name < other and x < x2 + w2 and x2 < x + w and y < y2 + h2 and y2 < y + h]
            failures += [f'{fragment}: {source} is not above {target}' for source, target, back in arrows if not back and boxes[source][1] >= boxes[target][1]]
    browser.width(1400)
    browser.js("document.querySelector('#view .box').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))")
    wait(browser, "return /embedding on /.test(document.getElementById('details').textContent)", 'the formula of a box')


def main():
    failures = []
    folder = tempfile.mkdtemp(prefix='roofline-pages.')
    page = os.path.join(folder, 'explorer.html')
    browser = Browser()
    try:
        run('page', '-o', page)
        check_figures(browser, page, failures)
        check_controls(browser, page, failures)
        check_limits(browser, page, failures)
        check_operators(browser, page, failures)
        check_keyboard(browser, page, failures)
        check_new_user(browser, page, failures)
        check_start(browser, folder, failures)
        check_load(browser, folder, failures)
        check_plan(browser, folder, failures)
        check_files(browser, page, folder, failures)
        check_views(browser, page, failures)
        check_copies(browser, page, folder, failures)
        check_graph(browser, page, failures)
        check_cancel(browser, page, failures)
        check_forced_colors(browser, page, failures)
        check_motion(browser, page, failures)
        check_print(browser, page, failures)
        check_widths(browser, page, failures)
        check_access(browser, page, failures)
        check_budgets(browser, page, failures)
        check_firefox(page, sys.argv[2] if len(sys.argv) > 2 else folder, failures)
        if len(sys.argv) > 2:
            take_pictures(browser, page, sys.argv[2])
        failures += [f'browser: {entry["message"]}' for entry in browser.log('browser') if entry['level'] == 'SEVERE']
        sent = [entry for entry in browser.log('performance') if '"Network.requestWillBeSent"' in entry['message']
                and '"url":"file:' not in entry['message'] and '"url":"data:' not in entry['message'] and '"url":"blob:' not in entry['message']]
        failures += [f'network: {entry["message"][:300]}' for entry in sent]
    finally:
        browser.close()
        shutil.rmtree(folder, ignore_errors=True)
    for failure in failures:
        print(f'FAIL {failure}')
    print(f'browser: {len(failures)} failures')
    return len(failures) > 0


sys.exit(main())
