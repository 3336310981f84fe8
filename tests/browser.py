# SPDX-License-Identifier: MIT
"""The explorer in headless Chromium, driven over WebDriver: python3 tests/browser.py PROGRAM [PICTURES]

What a reader sees must be what the program prints, and each control must change the question. PICTURES is a folder
for pictures of every view: light, dark, narrow and as printed. AXE in the environment names axe.min.js, which looks for
what keeps people from using a page; where firefox-esr is, it shows the page, too.
"""

import base64
import contextlib
import http.server
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree
import zlib

PROGRAM = os.path.abspath(sys.argv[1])
HOSTILE = '</script><script>window.harm = 1</script>'


class Browser:
    """A session of chromedriver."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix='roofline-browser.')
        self.driver = subprocess.Popen(
            ['chromedriver', '--port=0'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = None
        for line in self.driver.stdout:
            port = re.search(r'successfully on port (\d+)', line)
            if port:
                break
        assert port, 'chromedriver does not start'
        self.base = f'http://127.0.0.1:{port[1]}'
        # Only this machine is spoken to, whatever the environment says of proxies.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        options = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
                   '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
                   '--window-size=1400,1000', f'--user-data-dir={self.home}']
        made = self.call('POST', '/session', {'capabilities': {'alwaysMatch': {
            'browserName': 'chrome', 'goog:loggingPrefs': {'browser': 'ALL', 'performance': 'ALL'},
            'goog:chromeOptions': {'binary': shutil.which('chromium'), 'args': options}}}})
        self.base += '/session/' + made['sessionId']
        self.call('POST', '/url', {'url': 'about:blank'})
        self.log('performance')  # of the browser's own first page

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={'Content-Type': 'application/json'})
        try:
            with self.opener.open(request, timeout=60) as reply:
                return json.load(reply)['value']
        except urllib.error.HTTPError as error:
            raise AssertionError(f'{path}: {json.load(error)["value"]["message"]}') from None

    def close(self):
        with contextlib.suppress(Exception):
            self.call('DELETE', '')
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def open(self, path):
        self.call('POST', '/url', {'url': f'file://{path}'})

    def js(self, code, *arguments):
        return self.call('POST', '/execute/sync', {'script': code, 'args': list(arguments)})

    def later(self, code, *arguments):
        """Runs a script that hands its result to the last of its arguments, a function."""
        return self.call('POST', '/execute/async', {'script': code, 'args': list(arguments)})

    def devtools(self, command, **parameters):
        return self.call('POST', '/goog/cdp/execute', {'cmd': command, 'params': parameters})

    def media(self, media='', scheme='light', **features):
        self.devtools('Emulation.setEmulatedMedia', media=media,
                      features=[{'name': name.replace('_', '-'), 'value': value}
                                for name, value in {'prefers_color_scheme': scheme, **features}.items()])

    def width(self, width, height=1000):
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, path):
        """Writes the whole page as an image."""
        width, height = self.js('return [innerWidth, document.documentElement.scrollHeight]')
        self.width(width, height)
        shot = self.devtools('Page.captureScreenshot', format='png')
        with open(path, 'wb') as file:
            file.write(base64.b64decode(shot['data']))

    def log(self, kind):
        return self.call('POST', '/se/log', {'type': kind})


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


# --- what a reader sees ------------------------------------------------------------------------

ERROR = "return document.getElementById('error').textContent"


def wait(browser, code, what):
    """Waits until a script returns something, and returns it."""
    for _ in range(200):
        value = browser.js(code)
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f'{what}: {browser.js(ERROR)}')


IDLE = 'return typeof pending !== "undefined" && pending === null && answers.length > 0'
DRAWN = IDLE + """ && document.getElementById('view').textContent.length > 40 &&
 !/Asking|Searching/.test(document.getElementById('view').textContent)"""
CARDS = 'return [...document.querySelectorAll(".card")].map(c => c.textContent)'


def short(value):
    """Three digits, as the page writes them."""
    if value >= 1e6 or value < 1e-3:
        return None
    return f'{round(value):,}' if value >= 100 else f'{float(f"{value:.3g}"):g}'


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


def check_controls(browser, page, failures):
    """Each control changes the question, undo takes it back, and every view is drawn."""
    browser.open('/dev/null')
    browser.open(page)
    wait(browser, IDLE, 'the beginning')
    before = browser.js(CARDS)
    for control, value in (('in-batch', '64'), ('in-context', '100000'), ('in-phase', 'prefill'), ('in-precision', 'fp8_e4m3'),
                           ('in-kv', 'fp8_e4m3'), ('in-layout', 'q4_k_m'), ('in-stack', 'vllm'), ('in-tp', '2'), ('in-dp', '2'), ('in-model', 'qwen3-8b'),
                           ('in-more_bandwidth', '1'), ('in-more_peak', '-1'), ('add-device', 'h200'), ('in-draft_tokens', '3')):
        if control == 'in-draft_tokens':
            browser.js("change({acceptance: '0.7'})")
        if control == 'in-more_peak':
            browser.js("change({phase: 'prefill'})")
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
        if row[5:9] != wanted or browser.js('return state.prompt') != '1000':
            failures.append(f'load {more}: {row}, not {wanted}: {browser.js(ERROR)}')
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


# --- how it is shown ----------------------------------------------------------------------------

def contrast(one, other):
    """The contrast of two colours, by WCAG 2."""
    def light(color):
        shares = [int(c) / 255 for c in re.findall(r'\d+', color)[:3]]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


COLORS = """const of = (selector, key) => [...document.querySelectorAll(selector)].map(n => getComputedStyle(n)[key]);
return {forced: matchMedia('(forced-colors: active)').matches, ground: getComputedStyle(document.body).backgroundColor,
  tabs: of('[role=tab]', 'backgroundColor'), runs: of('#f-run button', 'backgroundColor'), bars: of('.card:first-child .bar i', 'backgroundColor'),
  lines: [...of('#view polyline', 'stroke'), ...of('#view circle', 'stroke')], texts: [...of('#view svg text', 'fill'), ...of('.card p', 'color'), ...of('#question', 'color')]};"""


def check_forced_colors(browser, page, failures):
    """With the colours of the system, lines and texts stand out, and what is chosen differs."""
    for scheme in ('light', 'dark'):
        browser.media('', scheme, forced_colors='active')
        browser.open('/dev/null')
        browser.open(f'{page}#hardware=h100-sxm&hardware=l40s&batch=8')
        wait(browser, IDLE, 'forced colours')
        seen = browser.js(COLORS)
        if not seen['forced'] or not seen['lines'] or not seen['texts']:
            failures.append(f'forced colours are not there: {seen}')
        for what in ('tabs', 'runs'):
            if len(set(seen[what])) < 2:
                failures.append(f'forced colours, {scheme}: what is chosen of the {what} looks like the rest')
        if len(set(seen['bars'])) < len(seen['bars']):
            failures.append(f'forced colours, {scheme}: parts of the memory look alike: {seen["bars"]}')
        for what, least in (('lines', 3), ('bars', 3), ('texts', 4.5)):
            weak = sorted({color for color in seen[what] if contrast(color, seen['ground']) < least})
            if weak:
                failures.append(f'forced colours, {scheme}: {what} {weak} on {seen["ground"]}')
    browser.media()


MOVING = """return [...document.querySelectorAll('*')].filter(n => { const s = getComputedStyle(n);
  return s.animationName !== 'none' || s.transitionDuration.split(',').some(t => parseFloat(t) > 0) || s.scrollBehavior === 'smooth'; }).length"""


def check_motion(browser, page, failures):
    """Nothing moves where the reader wants no motion."""
    moving = {}
    for wish in ('no-preference', 'reduce'):
        browser.media('', 'light', prefers_reduced_motion=wish)
        browser.open('/dev/null')
        browser.open(page)
        wait(browser, IDLE, 'motion')
        moving[wish] = browser.js(MOVING)
    browser.media()
    if moving['reduce'] > 0 or moving['no-preference'] == 0:
        failures.append(f'things that move, by the wish of the reader: {moving}')


PRINTED = """const shown = (n) => n.getClientRects().length > 0;
const all = (selector) => [...document.querySelectorAll(selector)];
return {extra: all('form, .tools, [role=tablist], .no-print, #busy, .no-print button').filter(shown).length,
  there: ['#question', '.card', '#view'].filter(s => !all(s).some(shown)),
  cut: all('.scroll, pre, #view, svg').filter(n => shown(n) && (n.scrollWidth > n.clientWidth + 1 || n.getBoundingClientRect().right > innerWidth + 1)).map(n => n.outerHTML.slice(0, 80)),
  texts: all('#question, .card p, .card h2, #view p, #view td, #view pre').filter(shown).map(n => getComputedStyle(n).color).concat(all('#view svg text').map(n => getComputedStyle(n).fill))};"""


def check_print(browser, page, failures):
    """Paper has the question, the answer and the view as a whole, dark on white whatever the theme is, and no controls."""
    browser.open('/dev/null')
    browser.open(f'{page}#hardware=h100-sxm&hardware=l40s&batch=8')
    wait(browser, IDLE, 'the beginning')
    for theme in ('light', 'dark'):
        for view in browser.js("return [...document.querySelectorAll('[role=tab]')].map(t => t.id)"):
            browser.media()
            browser.width(1400)
            browser.js('setTheme(arguments[0]); document.getElementById(arguments[1]).click()', theme, view)
            wait(browser, DRAWN, view)
            browser.media('print')
            browser.width(794)
            seen = browser.js(PRINTED)
            if seen['extra'] or seen['there'] or seen['cut']:
                failures.append(f'printed, {view}, {theme}: {seen["extra"]} controls, without {seen["there"]}, cut: {seen["cut"]}')
            pale = sorted({color for color in seen['texts'] if contrast(color, 'rgb(255, 255, 255)') < 4.5})
            if pale or not seen['texts']:
                failures.append(f'printed, {view}, {theme}: {pale} on paper')
    browser.js("document.getElementById('tab-roofline').click()")
    wait(browser, DRAWN, 'the roofline')
    paper = base64.b64decode(browser.devtools('Page.printToPDF')['data'])
    pages = len(re.findall(rb'/Type\s*/Page\b(?!s)', paper))
    if not paper.startswith(b'%PDF') or not 1 <= pages <= 2:
        failures.append(f'the roofline is printed on {pages} pages')
    browser.media()
    browser.width(1400)


CHANGED = """
const [next, done] = arguments, begin = performance.now();
new MutationObserver((_, observer) => { observer.disconnect(); done(performance.now() - begin); })
  .observe(document.getElementById('cards'), {childList: true});
change(next);"""
FIRST = """new MutationObserver((_, observer) => {
  if (document.querySelector('.card')) { observer.disconnect(); window.firstAnswer = performance.now(); }
}).observe(document, {childList: true, subtree: true});"""
# Milliseconds, the least of some tries, so that others on the machine do not matter; and bytes.
BUDGETS = {'llama-3.3-70b': 50, 'deepseek-r1': 100}
FIRST_MS, PAGE_BYTES, TRIES = 500, 600000, 8


def check_budgets(browser, page, failures):
    """The page is small, and soon there; a change is answered at once."""
    if os.path.getsize(page) >= PAGE_BYTES:
        failures.append(f'the page has {os.path.getsize(page)} bytes')
    script = browser.devtools('Page.addScriptToEvaluateOnNewDocument', source=FIRST)['identifier']
    firsts = []
    for _ in range(TRIES):
        browser.open('/dev/null')
        browser.open(page)
        firsts.append(wait(browser, 'return window.firstAnswer', 'the first answer'))
    browser.devtools('Page.removeScriptToEvaluateOnNewDocument', identifier=script)
    if min(firsts) > FIRST_MS:
        failures.append(f'the first answers take {firsts} ms')
    said = [f'{os.path.getsize(page)} bytes', f'first answer {min(firsts):.0f} ms']
    for model, budget in BUDGETS.items():
        for what, changes in (('a change', [{'batch': str(2 + i)} for i in range(TRIES)]),
                              ('a change of a request', [{'run': 'request', 'batch': str(20 + i)} for i in range(TRIES)])):
            browser.js('change(arguments[0])', {'model': model, 'tp': '8', 'run': 'pass', 'view': 'roofline'})
            wait(browser, IDLE, model)
            times = []
            for change in changes:
                times.append(browser.later(CHANGED, change))
                wait(browser, IDLE, model)
            said.append(f'{what}, {model}, {min(times):.0f} ms')
            if min(times) > budget:
                failures.append(f'{what} of {model} takes {times} ms, not {budget}')
    print(f'browser: {"; ".join(said)}')


def check_access(browser, page, failures):
    """axe-core finds nothing, in any view, light or dark, wide or narrow."""
    if 'AXE' not in os.environ:
        print('browser: skip axe-core: AXE does not say where it is')
        return
    with open(os.environ['AXE'], encoding='utf-8') as file:
        axe = file.read()
    for fragment in ('hardware=h100-sxm&hardware=l40s&batch=8', 'about=operator'):
        browser.open('/dev/null')
        browser.open(f'{page}#{fragment}')
        wait(browser, IDLE, fragment)
        browser.js(axe)
        browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
        for view in browser.js("return [...document.querySelectorAll('[role=tab]')].map(t => t.id)"):
            browser.js('document.getElementById(arguments[0]).click()', view)
            wait(browser, DRAWN, view)
            for scheme in ('light', 'dark'):
                browser.media('', scheme)
                for found in browser.later("axe.run().then(r => arguments[0](r.violations.map(v => [v.id, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary])))"):
                    failures.append(f'axe, {view}, {scheme}: {found}')
        browser.media()


# The page in a frame, beside an image that comes when the frame has told what is in it: only then is a picture taken.
FRAME = """<!doctype html><title>frame</title><style>body{margin:0}iframe{border:0;width:100vw;height:100vh}</style>
<iframe src="/page.html#hardware=h100-sxm&hardware=l40s"></iframe><img src="/image" alt="">
<script>
const timer = setInterval(() => {
  const inner = document.querySelector('iframe').contentDocument;
  const cards = [...inner.querySelectorAll('.card')].map(c => c.textContent), error = inner.getElementById('error')?.textContent;
  if (error || (cards.length === 2 && inner.querySelector('#view svg') && /would help/.test(cards[1]))) {
    clearInterval(timer);
    fetch('/said', {method: 'POST', body: JSON.stringify([cards, error])});
  }
}, 50);
</script>"""


class Stage(http.server.BaseHTTPRequestHandler):
    """Hands out the frame and the page, and keeps what the frame says."""

    page = b''
    said = None
    told = threading.Event()

    def do_GET(self):
        if self.path == '/image':
            Stage.told.wait(30)
        self.send_response(200)
        self.send_header('Content-Type', 'image/svg+xml' if self.path == '/image' else 'text/html')
        self.end_headers()
        self.wfile.write(b'<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>' if self.path == '/image'
                         else Stage.page if self.path == '/page.html' else FRAME.encode())

    def do_POST(self):
        Stage.said = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.send_response(204)
        self.end_headers()
        Stage.told.set()

    def log_message(self, *_):
        pass


def check_firefox(page, folder, failures):
    """Another browser shows the same figures."""
    if shutil.which('firefox-esr') is None:
        print('browser: skip Firefox: there is no firefox-esr (sh .ci/deps browser installs it)')
        return
    with open(page, 'rb') as file:
        Stage.page = file.read()
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Stage)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    picture = os.path.join(folder, 'firefox.png')
    with tempfile.TemporaryDirectory(prefix='roofline-firefox.') as home:
        subprocess.run(['firefox-esr', '--headless', '--profile', home, '--window-size=1400,1000', '--screenshot', picture,
                        f'http://127.0.0.1:{server.server_port}/'], check=False, capture_output=True, timeout=90, env={**os.environ, 'HOME': home})
    server.shutdown()
    cards, error = Stage.said or ([], 'it says nothing')
    document = json.loads(run('predict', 'model', 'llama-3-8b', '-H', 'l40s', '-f', 'json'))
    if len(cards) != 2 or short(document['expected_tpot_ms']) not in cards[1] or not os.path.exists(picture):
        failures.append(f'Firefox: {cards} {error}')


def take_pictures(browser, page, folder):
    """Pictures to be looked at."""
    os.makedirs(folder, exist_ok=True)
    views = {'model': 'hardware=h100-sxm&hardware=l40s&batch=8', 'request': 'run=request&hardware=h100-sxm&hardware=mi300x',
             'deepseek': 'model=deepseek-r1&hardware=h200&tp=8', 'operator': 'about=operator&hardware=h100-sxm&hardware=h200'}
    for name, fragment in views.items():
        for kind, width, media, scheme in (('light', 1400, '', 'light'), ('dark', 1400, '', 'dark'), ('narrow', 390, '', 'light'), ('print', 794, 'print', 'light')):
            browser.width(width)
            browser.media(media, scheme)
            browser.open('/dev/null')
            browser.open(f'{page}#{fragment}')
            wait(browser, IDLE, name)
            tabs = browser.js("return [...document.querySelectorAll('[role=tab]')].map(t => t.id)")
            for view in tabs if kind == 'light' or name == 'model' else tabs[:1]:
                browser.js('document.getElementById(arguments[0]).click()', view)
                wait(browser, DRAWN, view)
                browser.picture(os.path.join(folder, f'{name}-{view}-{kind}.png'))


def main():
    failures = []
    folder = tempfile.mkdtemp(prefix='roofline-pages.')
    page = os.path.join(folder, 'explorer.html')
    browser = Browser()
    try:
        run('page', '-o', page)
        check_figures(browser, page, failures)
        check_controls(browser, page, failures)
        check_start(browser, folder, failures)
        check_load(browser, folder, failures)
        check_plan(browser, folder, failures)
        check_files(browser, page, folder, failures)
        check_copies(browser, page, folder, failures)
        check_graph(browser, page, failures)
        check_cancel(browser, page, failures)
        check_forced_colors(browser, page, failures)
        check_motion(browser, page, failures)
        check_print(browser, page, failures)
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
