# SPDX-License-Identifier: MIT
"""Headless Chromium, driven over WebDriver, and what all tests of the explorer share."""

import base64
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


def strike(browser, *keys):
    """Presses keys one by one, as a keyboard does; SHIFT is held for the next one."""
    actions = []
    for key in keys:
        actions += [{'type': 'keyDown', 'value': key}, {'type': 'keyUp', 'value': key}]
    browser.call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keyboard', 'actions': actions}]})


PROGRAM = os.path.abspath(sys.argv[1])


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


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
