# SPDX-License-Identifier: MIT
"""The explorer in headless Chromium, driven over WebDriver: python3 tests/browser.py PROGRAM

What a reader sees must be what the program prints, and each control must change the question.
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

    def find(self, selector):
        return self.call('POST', '/element', {'using': 'css selector', 'value': selector})[ELEMENT]

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
                           ('in-kv', 'fp8_e4m3'), ('in-layout', 'q4_k_m'), ('in-stack', 'vllm'), ('in-tp', '2'), ('in-model', 'qwen3-8b'),
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
            wait(browser, IDLE, view)
            wait(browser, "return document.getElementById('view').textContent.length > 40 &&"
                 " !/Asking|Searching/.test(document.getElementById('view').textContent)", view)
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


def check_plan(browser, folder, failures):
    """A plan that is chosen is asked for: its times stand in the card, and its operators are those of a step."""
    page = os.path.join(folder, 'plans.html')
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
        check_plan(browser, folder, failures)
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
