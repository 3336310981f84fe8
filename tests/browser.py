# SPDX-License-Identifier: MIT
"""Pages in headless Chromium, driven over WebDriver: python3 tests/browser.py PROGRAM

What a reader sees must be what the program prints: every figure is compared with that of
`roofline predict -f json` at the sizes that the sliders stand at.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PROGRAM = os.path.abspath(sys.argv[1])
ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
KEYS = {'right': '\ue014', 'left': '\ue012', 'down': '\ue015', 'end': '\ue010', 'escape': '\ue00c'}
MODEL = ['model', 'llama-3-8b', '-H', 'h100-sxm']
HOSTILE = ['</script><script>window.harm = 1</script>', '<img src=x onerror="window.harm = 2">',
           '<!--<script>', '"\'&amp;</title>\\u003c', '{{data}}']


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

    def find(self, selector):
        return self.call('POST', '/element', {'using': 'css selector', 'value': selector})[ELEMENT]

    def press(self, selector, *keys):
        self.call('POST', f'/element/{self.find(selector)}/value', {'text': ''.join(KEYS[key] for key in keys)})

    def move(self, x, y, click=False):
        steps = [{'type': 'pointerMove', 'duration': 0, 'x': round(x), 'y': round(y)}]
        if click:
            steps += [{'type': 'pointerDown', 'button': 0}, {'type': 'pointerUp', 'button': 0}]
        self.call('POST', '/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'actions': steps}]})

    def drag(self, x, y, to_x, to_y):
        self.call('POST', '/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'actions': [
            {'type': 'pointerMove', 'duration': 0, 'x': round(x), 'y': round(y)}, {'type': 'pointerDown', 'button': 0},
            {'type': 'pointerMove', 'duration': 100, 'x': round(to_x), 'y': round(to_y)},
            {'type': 'pointerUp', 'button': 0}]}]})

    def devtools(self, command, **parameters):
        return self.call('POST', '/goog/cdp/execute', {'cmd': command, 'params': parameters})

    def media(self, media='', scheme='light'):
        self.devtools('Emulation.setEmulatedMedia', media=media,
                      features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def log(self, kind):
        return self.call('POST', '/se/log', {'type': kind})


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


# --- what a reader sees ------------------------------------------------------------------------

TABLE = '''
const table = document.getElementById('operators');
const keys = [...table.tHead.rows[0].cells].map(cell => cell.textContent);
return [...table.tBodies[0].rows].map(row =>
    Object.fromEntries([...row.cells].map((cell, i) => [keys[i], cell.textContent])));'''
TIP = '''
const tip = document.getElementById('tip');
return tip.hidden ? null : Object.fromEntries([['title', tip.querySelector('strong').textContent],
    ['where', tip.querySelector('.where').textContent],
    ...[...tip.querySelectorAll('dt')].map(dt => [dt.textContent, dt.nextSibling.textContent])]);'''
COLOURS = '''
const canvas = document.querySelector('#chart canvas');
const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
return new Set(pixels).size;'''
PICTURE = "return document.querySelector('#chart canvas').toDataURL()"
RING = '''
const ring = document.getElementById('ring');
const box = ring.getBoundingClientRect();
return ring.hidden ? null : [box.x + box.width / 2, box.y + box.height / 2];'''
OVER = '''
const box = document.querySelector('#chart .u-over').getBoundingClientRect();
return [box.left, box.top, box.right, box.bottom];'''
CARDS = '''
return Object.fromEntries([...document.querySelectorAll('.card')].map(card => [card.querySelector('h2').textContent,
    [...card.querySelectorAll('.pair > div')].map(part => [...part.children].map(child => child.textContent))
        .concat([[card.querySelector('.memory').textContent]])]));'''

UNITS = {'ns': 1e-3, 'us': 1, 'ms': 1e3, 's': 1e6, '': 1, '%': 0.01, 'TFLOPS': 1, 'FLOP/byte': 1, 'M': 1e6}


def value_of(text):
    """A figure in the unit of the JSON: microseconds, TFLOPS, ..."""
    found = re.match(r'([0-9.e+-]+) ?([A-Za-z/%]*)', text)
    assert found, f'no figure: {text!r}'
    return float(found[1]) * UNITS[found[2]]


def same(text, value, what):
    """Four digits are shown; of shares one place."""
    assert abs(value_of(text) - value) <= 5.01e-4 * abs(value) + 1e-12, f'{what}: {text} is not {value}'


def prediction(phase, batch, context):
    return json.loads(run('predict', *MODEL, '--phase', phase, '--batch', str(batch), '--context', str(context),
                          '-f', 'json'))


def check_table(browser, batch, context, phases=('decode', 'prefill')):
    """Every operator of the table is one of the program's, and all of those are there."""
    shown = browser.js(TABLE)
    wanted = {}
    for phase in phases:
        p = prediction(phase, batch, context)
        for node in p['operators']:
            wanted[phase, node['name'], node['count']] = (node, p['time_us'])
    assert len(shown) == len(wanted), f'{len(shown)} rows for {len(wanted)} operators'
    for row in shown:
        where = (row['phase'], row['operator'], int(row['count']))
        node, whole = wanted.pop(where)
        same(row['bound'], node['count'] * node['time_us'], (where, 'bound'))
        same(row['expected'], node['count'] * node['expected_time_us'], (where, 'expected'))
        share = node['count'] * node['time_us'] / whole
        assert abs(value_of(row['share']) - share) <= 0.000501, (where, row['share'], share)
        assert row['limited by'] == node['bottleneck'], where
        same(row['FLOP/byte'], node['arithmetic_intensity'], (where, 'intensity'))
        same(row['TFLOPS'], node['attainable_tflops'], (where, 'attainable'))


def check_cards(browser, batch, context):
    cards = browser.js(CARDS)
    for phase, time_ms in (('decode', 'tpot_ms'), ('prefill', 'ttft_ms')):
        p = prediction(phase, batch, context)
        expected, best, tokens, tokens_best, memory = cards[phase]
        same(expected[1], 1e3 * p['expected_' + time_ms], (phase, 'expected time'))
        same(best[1], 1e3 * p[time_ms], (phase, 'time'))
        if p['fits']:
            same(tokens[1], p['expected_tokens_per_s'], (phase, 'expected tokens/s'))
            same(tokens_best[1], p['tokens_per_s'], (phase, 'tokens/s'))
        assert memory[0].startswith('Fits' if p['fits'] else 'Does not fit'), (phase, memory)


def check_tip(tip, phase, batch, context):
    name = tip['title'].split(' × ')[0]
    p = prediction(phase, batch, context)
    node = next(n for n in p['operators'] if n['name'] == name)
    assert tip['where'].startswith(f'{phase} · h100-sxm'), tip
    same(tip['arithmetic intensity'], node['arithmetic_intensity'], 'intensity')
    same(tip['attainable'], node['attainable_tflops'], 'attainable')
    same(tip['bound time'], node['time_us'], 'time')
    same(tip['expected time'], node['expected_time_us'], 'expected')
    low, high = tip['band'].split(' to ')
    same(low, node['expected_low_us'], 'low')
    same(high, node['expected_high_us'], 'high')
    assert tip['limited by'] == node['bottleneck'] and tip['expected limit'] == node['expected_bottleneck'], tip
    share = node['count'] * node['time_us'] / p['time_us']
    assert abs(value_of(tip['share of the time']) - share) <= 0.000501, tip


def point_at(browser, phase, name):
    """Where the mark of an operator stands: the ring around it while its row has the focus."""
    browser.js('''
        const [phase, name] = arguments;
        [...document.querySelectorAll('#operators tbody tr')].find(row =>
            row.cells[0].textContent === name && row.cells[1].textContent === phase).focus();''', phase, name)
    at = browser.js('window.scrollTo(0, 0);' + RING)
    browser.js('document.activeElement.blur()')
    assert at and browser.js(TIP) is None, (phase, name)
    return at


def toggle(browser, name):
    browser.js('document.querySelector(`#toggles input[name="${arguments[0]}"]`).click()', name)


# --- tests ---------------------------------------------------------------------------------------

def test_chart(browser, folder):
    """The chart is drawn; dots and ceilings answer the mouse and the keyboard."""
    page = f'{folder}/model.html'
    run('predict', *MODEL, '--batch', '16', '--context', '2048', '-o', page)
    assert os.path.getsize(page) < 1_500_000
    browser.open(page)
    assert browser.js(COLOURS) > 50, 'the chart is blank'
    assert browser.js('return document.title').endswith(' on NVIDIA H100 SXM5 80GB')
    check_table(browser, 16, 2048)
    check_cards(browser, 16, 2048)
    for phase, name in (('decode', 'attention'), ('prefill', 'gate_up_proj')):
        browser.move(5, 5)
        x, y = point_at(browser, phase, name)
        browser.move(x, y)
        tip = browser.js(TIP)
        assert tip and tip['title'].startswith(name), tip
        check_tip(tip, phase, 16, 2048)
    # The products of the prefill stand on the ceiling of fp16; right of them only it is.
    browser.move(5, 5)
    assert browser.js(TIP) is None, 'it stays when the mouse has left'
    right = browser.js(OVER)[2]
    browser.move(right - 8, y)
    tip = browser.js(TIP)
    roof = json.loads(run('plot', '-H', 'h100-sxm', '-f', 'json'))['devices'][0]
    ceiling = next(c for c in roof['ceilings'] if 'fp16' in c['formats'] and c['unit'] == 'matrix')
    same(tip['peak'], ceiling['peak_tflops'], 'peak')
    same(tip['ridge point'], ceiling['ridge_point'], 'ridge')
    assert tip['formats'] == ', '.join(ceiling['formats']) and tip['unit'] == 'matrix', tip
    browser.move(5, 5)
    browser.press('#chart', 'right')
    first = browser.js(TIP)
    browser.press('#chart', 'right')
    second = browser.js(TIP)
    assert first and second and (first['title'], first['where']) != (second['title'], second['where'])
    browser.press('#chart', 'escape')
    assert browser.js(TIP) is None
    browser.press('#operators tbody tr', 'down')
    on = browser.js("return document.querySelector('#operators tr.on').cells[0].textContent")
    assert browser.js(TIP)['title'].startswith(on)
    # What is dragged over fills the chart; a double click shows all again.
    browser.js('document.activeElement.blur()')
    browser.move(5, 5)
    whole = browser.js(PICTURE)
    left, top, right, bottom = browser.js(OVER)
    browser.drag(left + 100, top + 100, right - 100, bottom - 100)
    browser.move(5, 5)
    assert browser.js(PICTURE) != whole, 'no zoom'
    browser.js("document.querySelector('#chart .u-over').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))")
    assert browser.js(PICTURE) == whole, 'it stays zoomed'
    # A click keeps the figures until the next.
    browser.js('document.activeElement.blur()')
    x, y = point_at(browser, 'decode', 'attention')
    browser.move(x, y, click=True)
    browser.move(5, 5)
    assert browser.js(TIP)['title'].startswith('attention')


def test_sliders(browser, folder):
    """Sliders move by keys, and all figures become those of the program there."""
    page = f'{folder}/model.html'
    run('predict', *MODEL, '--batch', '6', '--context', '3000', '-f', 'html', '-o', page)
    browser.open(page)
    stops = browser.js('''return ['batch', 'context'].map(id => JSON.parse(
        document.getElementById('data').textContent)[id].values)''')
    assert stops == [[1, 2, 4, 6, 8, 16, 32, 64, 128, 256, 512], [512, 1024, 2048, 3000, 4096, 8192]], stops
    check_table(browser, 6, 3000)
    before = browser.js(PICTURE)
    browser.press('#batch', 'right', 'right', 'right')
    browser.press('#context', 'left')
    assert browser.js("return ['batch', 'context'].map(id => document.getElementById(id + '-value').textContent)") == \
        ['32', '2\u2009048']
    assert browser.js(PICTURE) != before, 'the dots stay'
    check_table(browser, 32, 2048)
    check_cards(browser, 32, 2048)
    x, y = point_at(browser, 'decode', 'attention')
    browser.move(x, y)
    check_tip(browser.js(TIP), 'decode', 32, 2048)
    browser.press('#batch', 'end')
    browser.press('#context', 'end')
    check_table(browser, 512, 8192)
    check_cards(browser, 512, 8192)  # does not fit
    browser.js("document.querySelectorAll('.map i')[0].click()")  # the largest batch, the shortest context
    check_table(browser, 512, 512)


def test_toggles(browser, folder):
    """What is switched off is gone from the chart and the table."""
    page = f'{folder}/two.html'
    run('plot', 'model', 'llama-3-8b', '-H', 'h100-sxm,gb10', '-o', page)
    browser.open(page)
    rows = browser.js(TABLE)
    assert {(r['phase'], r['device']) for r in rows} == {
        (p, d) for p in ('decode', 'prefill') for d in ('h100-sxm', 'gb10')}
    pictures = [browser.js(PICTURE)]
    for name, key in (('prefill', 'phase'), ('gb10', 'device')):
        toggle(browser, name)
        assert name not in {row[key] for row in browser.js(TABLE)}, name
        pictures.append(browser.js(PICTURE))
    assert len(browser.js(CARDS)) == 1
    for name in ('fp32', 'int8', 'expected'):
        toggle(browser, name)
        pictures.append(browser.js(PICTURE))
    assert len(set(pictures)) == len(pictures), 'a toggle changes nothing'
    toggle(browser, 'fp16')
    toggle(browser, 'int8')
    right, top, bottom = (browser.js(OVER)[i] for i in (2, 1, 3))
    for y in range(int(top) + 2, int(bottom), 4):  # no ceiling is left to be found
        browser.move(right - 8, y)
        assert browser.js(TIP) is None, browser.js(TIP)
    toggle(browser, 'decode')
    assert browser.js(TABLE) == []


def test_sort(browser, folder):
    page = f'{folder}/gemm.html'
    run('plot', 'gemm', '-m', '1:4096:x4', '-n', '4096', '-k', '4096', '-H', 'h100-sxm', '--attainable', '-o', page)
    browser.open(page)
    assert browser.js("return document.getElementById('side').hidden"), 'an operator has no sliders'
    click = "[...document.querySelectorAll('#operators th button')].find(b => b.textContent === arguments[0]).click()"
    for column, number in (('FLOP/byte', True), ('bound', True), ('operator', False)):
        browser.js(click, column)
        cells = [row[column] for row in browser.js(TABLE)]
        order = sorted(cells, key=value_of, reverse=True) if number else sorted(cells)
        assert cells == order and len(cells) == 7, (column, cells)
        browser.js(click, column)
        assert [row[column] for row in browser.js(TABLE)] == order[::-1], column


def test_hostile(browser, folder):
    """Text from outside is text."""
    rows = ['name,group,operator,m,n,k']
    rows += [','.join('"%s"' % text.replace('"', '""') for text in (name, name[::-1])) + f',gemm,{i + 1},512,512'
             for i, name in enumerate(HOSTILE)]
    with open(f'{folder}/bad.csv', 'w', encoding='utf-8') as file:
        file.write('\n'.join(rows) + '\n')
    page = f'{folder}/bad.html'
    title = ''.join(HOSTILE)[:90]
    run('plot', '--from', f'{folder}/bad.csv', '-H', 'h100-sxm', '--title', title, '--line',
        '</script><b>=10TFLOPS', '-o', page)
    browser.open(page)
    assert browser.js('return [document.title, document.querySelector("h1").textContent]') == [title, title]
    shown = browser.js(TABLE)
    assert sorted(row['operator'] for row in shown) == sorted(HOSTILE), shown
    assert {row['group'] for row in shown} == {name[::-1] for name in HOSTILE}
    browser.press('#chart', 'right')
    assert browser.js(TIP)['title'] in HOSTILE
    assert browser.js('return [typeof window.harm, document.images.length, document.querySelectorAll("b").length]') == \
        ['undefined', 0, 0]
    return page


def test_readers(browser, folder):
    """Dark, narrow, on paper, and without scripts."""
    page = f'{folder}/model.html'
    background = 'return getComputedStyle(document.body).backgroundColor'
    browser.open(page)
    light, chart = browser.js(background), browser.js(PICTURE)
    browser.media(scheme='dark')
    assert browser.js(background) != light
    assert browser.js('return new Promise(done => setTimeout(() => done(' + PICTURE[7:] + '), 100))') != chart
    browser.media(media='print', scheme='dark')
    assert browser.js(background) == 'rgb(255, 255, 255)'
    assert browser.js("return getComputedStyle(document.getElementById('batch')).display") == 'none'
    browser.media()
    for width in (360, 768, 1400):
        browser.devtools('Emulation.setDeviceMetricsOverride', width=width, height=800, deviceScaleFactor=1,
                         mobile=False)
        browser.js('return new Promise(done => setTimeout(done, 100))')
        wide, canvas = browser.js('''return [document.documentElement.scrollWidth,
            document.querySelector('#chart canvas').getBoundingClientRect().right]''')
        assert wide <= width and canvas <= width, (width, wide, canvas)
    browser.devtools('Emulation.clearDeviceMetricsOverride')
    browser.devtools('Emulation.setScriptExecutionDisabled', value=True)
    browser.open(page)
    text = browser.call('GET', f'/element/{browser.find("noscript")}/text')
    node = prediction('decode', 6, 3000)['operators'][3]
    assert node['name'] in text and 'decode' in text and 'prefill' in text, text
    browser.devtools('Emulation.setScriptExecutionDisabled', value=False)


def check_quiet(browser, what):
    """Nothing on the console, nothing over the network."""
    console = [entry['message'] for entry in browser.log('browser')]
    assert console == [], (what, console)
    for entry in browser.log('performance'):
        message = json.loads(entry['message'])['message']
        if message['method'] == 'Network.requestWillBeSent':
            url = message['params']['request']['url']
            assert url.startswith('file://') and url.endswith('.html') or url.startswith('data:'), (what, url)


def test_policy(browser, page):
    """The page could not load anything if it wanted to."""
    browser.open(page)
    check_quiet(browser, 'before')
    refused = browser.js('''
        return new Promise(done => {
            const kinds = new Set();
            addEventListener('securitypolicyviolation', event => kinds.add(event.effectiveDirective));
            fetch('https://example.org/').catch(() => 0);
            new Image().src = 'https://example.org/x.png';
            const script = document.createElement('script');
            script.src = 'https://example.org/x.js';
            document.head.append(script);
            setTimeout(() => done([...kinds].sort()), 300);
        });''')
    assert refused == ['connect-src', 'img-src', 'script-src-elem'], refused


def main():
    browser = Browser()
    failures = 0
    try:
        with tempfile.TemporaryDirectory(prefix='roofline-pages.') as folder:
            for test in (test_chart, test_sliders, test_toggles, test_sort, test_hostile, test_readers):
                start = time.monotonic()
                try:
                    test(browser, folder)
                    check_quiet(browser, test.__name__)
                    print(f'ok   {test.__name__} ({time.monotonic() - start:.1f} s)')
                except (AssertionError, KeyError, TypeError, StopIteration) as error:
                    failures += 1
                    print(f'FAIL {test.__name__}: {type(error).__name__} {error}')
            test_policy(browser, f'{folder}/model.html')
            print('ok   test_policy')
    finally:
        browser.close()
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
