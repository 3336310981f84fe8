# SPDX-License-Identifier: MIT
"""How the explorer is shown: colours, motion, paper, sizes and times, what keeps people from using it, another browser."""

import base64
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading

from webdriver import DRAWN, IDLE, run, short, wait


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
# Milliseconds, the least of some tries, and bytes. Times depend on what else the machine does, so that one
# above its budget fails only where BUDGETS=1 says that it does nothing else.
BUDGETS = {'llama-3.3-70b': 50, 'deepseek-r1': 100}
FIRST_MS, PAGE_BYTES, TRIES = 500, 620000, 8


def check_budgets(browser, page, failures):
    """The page is small, and soon there; a change is answered at once."""
    late = failures if os.environ.get('BUDGETS') else []
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
        late.append(f'the first answers take {firsts} ms')
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
                late.append(f'{what} of {model} takes {times} ms, not {budget}')
    print(f'browser: {"; ".join(said + ["above a budget" for _ in late[:1]])}')


WIDE = """const boxes = [...document.querySelectorAll('.scroll')];
return {page: document.documentElement.scrollWidth - document.documentElement.clientWidth, unmarked: boxes.filter(b => (b.scrollWidth > b.clientWidth + 1) !== b.classList.contains('more')).map(b => b.getAttribute('aria-label')),
  wide: boxes.filter(b => b.scrollWidth > b.clientWidth + 1).length};"""


def check_widths(browser, page, failures):
    """No view is wider than the page; what scrolls in it is marked until its end, and operators fit on a wide screen."""
    browser.media()
    browser.open('/dev/null')
    browser.open(f'{page}#hardware=h100-sxm&hardware=l40s&model=deepseek-r1&tp=8')
    wait(browser, IDLE, 'the beginning')
    marked = 0
    for view in browser.js("return [...document.querySelectorAll('[role=tab]')].map(t => t.id)"):
        browser.js('document.getElementById(arguments[0]).click()', view)
        wait(browser, DRAWN, view)
        for width in (1440, 360):
            browser.width(width)
            wait(browser, DRAWN, view)
            seen = browser.later('const [done] = arguments; requestAnimationFrame(() => requestAnimationFrame(() => done((() => {' + WIDE + '})())))')
            marked += seen['wide']
            if seen['page'] > 0 or seen['unmarked'] or (view == 'tab-operators' and width == 1440 and seen['wide']):
                failures.append(f'{view} on {width} px: {seen}')
    browser.js("document.getElementById('tab-operators').click()")
    wait(browser, DRAWN, 'the operators')
    browser.js("document.querySelector('.scroll').scrollLeft = 9999")
    ended = browser.later("const [done] = arguments; requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelector('.scroll.more') === null)))")
    if marked == 0 or not ended:
        failures.append(f'{marked} tables scroll on a narrow page; at the end the mark is gone: {ended}')
    browser.width(1400)


def check_access(browser, page, failures):
    """axe-core finds nothing, in any view, light or dark, wide or narrow."""
    if 'AXE' not in os.environ:
        print('browser: skip axe-core: AXE does not say where it is')
        return
    with open(os.environ['AXE'], encoding='utf-8') as file:
        axe = file.read()
    for fragment in ('hardware=h100-sxm&hardware=l40s&batch=8', 'hardware=l40s&model=llama-3-70b&run=request', 'about=operator'):
        browser.open('/dev/null')
        browser.open(f'{page}#{fragment}')
        wait(browser, IDLE, fragment)
        browser.js(axe)
        browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
        for view in browser.js("return [...document.querySelectorAll('[role=tab]')].map(t => t.id)"):
            browser.js('document.getElementById(arguments[0]).click()', view)
            wait(browser, DRAWN, view)
            for scheme, width in (('light', 1400), ('dark', 1400), ('dark', 390), ('light', 390)):
                browser.media('', scheme)
                browser.width(width)
                wait(browser, DRAWN, view) # charts are drawn anew for their width
                for found in browser.later("axe.run().then(r => arguments[0](r.violations.map(v => [v.id, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary])))"):
                    failures.append(f'axe, {view}, {scheme}, {width}: {found}')
            browser.width(1400)
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
