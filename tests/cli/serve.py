# SPDX-License-Identifier: MIT
"""The service over HTTP, see serve.sh: python3 serve.py PROGRAM FAKES

Each function below that begins with test_ gets a service of its own kind; what it prints is wrong.
"""
import concurrent.futures
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time

PROGRAM, FAKES = sys.argv[1:3]
# Requests over which memory must not grow.
REQUESTS = int(os.environ.get('SERVE_REQUESTS', '2000'))
# Connections that are idle at a time.
IDLE = int(os.environ.get('SERVE_IDLE', '10000'))
# Times that the service may take are this many times as long under valgrind.
SLOWER = 20 if os.environ.get('WRAPPER') else 1
checks = 0
failures = 0


def expect(name, good, said=''):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print(f'FAIL {name}: {said}')


class Service:
    """The program as a service on a free port of loopback."""

    def __init__(self, *options, **environment):
        self.process = subprocess.Popen(
            [PROGRAM, 'serve', '--listen', '127.0.0.1:0', *options], stdout=subprocess.PIPE,
            stderr=open('log', 'ab'), env={**os.environ, **environment})
        self.address = self.process.stdout.readline().decode().strip()
        self.host = self.address.removeprefix('http://').rstrip('/')
        self.port = int(self.host.rsplit(':', 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        if failure is None and self.process.poll() is None:
            self.process.terminate() # in order, so that a sanitizer and valgrind see what is left
        elif self.process.poll() is None:
            self.process.kill()
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        expect('a service ends in order', failure is not None or code == 0, code)
        self.process.stdout.close()

    def ask(self, method, path, body=None, **headers):
        """Status, headers and body of one request."""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=120)
        connection.request(method, path, body, {k.replace('_', '-'): v for k, v in headers.items()})
        response = connection.getresponse()
        result = response.status, response.headers, response.read()
        connection.close()
        return result

    def connect(self):
        return socket.create_connection(('127.0.0.1', self.port), timeout=120)

    def raw(self, data):
        """What comes back for these bytes, until the service closes or is silent."""
        with self.connect() as s:
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
            except OSError: # it is closed already
                pass
            return read_all(s)


def read_all(s):
    out = b''
    try:
        while piece := s.recv(65536):
            out += piece
    except (TimeoutError, ConnectionResetError):
        pass
    return out


def status_of(reply):
    return int(reply.split(b' ', 2)[1]) if reply.startswith(b'HTTP/1.1 ') else 0


def program(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, check=False)
    return done.returncode, done.stdout


SAME = [
    ('predict', {'operator': 'gemm', 'm': 128, 'n': 4096, 'k': 4096, 'hardware': 'h100-sxm'},
     ['predict', 'gemm', '-m', '128', '-n', '4096', '-k', '4096', '-H', 'h100-sxm']),
    ('analyze', {'model': 'llama-3-8b', 'hardware': 'h100-sxm', 'batch': 8, 'unfused_attention': True},
     ['predict', 'model', 'llama-3-8b', '-H', 'h100-sxm', '--batch', '8', '--unfused-attention']),
    ('predict', {'model': 'deepseek-ai/DeepSeek-V3', 'hardware': 'gb200', 'devices': None},
     ['predict', 'model', 'deepseek-ai/DeepSeek-V3', '-H', 'gb200']),
    ('recommend', {'operator': 'gemm', 'm': 1, 'n': 4096, 'k': 4096, 'hardware': 'gb10'},
     ['recommend', 'gemm', '-m', '1', '-n', '4096', '-k', '4096', '-H', 'gb10']),
    ('recommend', {'model': 'llama-3-8b', 'hardware': ['h100-sxm', 'l40s'], 'prompt': 2000,
                   'generate': 200, 'devices': [1, 2]},
     ['recommend', 'model', 'llama-3-8b', '-H', 'h100-sxm,l40s', '--prompt', '2000', '--generate',
      '200', '--devices', '1,2']),
    ('simulate', {'model': 'llama-3-8b', 'hardware': 'h100-sxm', 'rate': 2, 'prompt': 500, 'generate': 50},
     ['simulate', 'llama-3-8b', '-H', 'h100-sxm', '--rate', '2', '--prompt', '500', '--generate', '50']),
    ('plot', {'hardware': 'h100-sxm', 'operator': 'gemm', 'm': '1:64:x4', 'n': 4096, 'k': 4096},
     ['plot', 'gemm', '-H', 'h100-sxm', '-m', '1:64:x4', '-n', '4096', '-k', '4096']),
    ('sweep', {'operator': 'gemm', 'm': '1:3000', 'n': 4096, 'k': 4096, 'precision': ['fp16', 'fp8']},
     ['sweep', 'gemm', '-m', '1:3000', '-n', '4096', '-k', '4096', '-p', 'fp16,fp8']),
]


def test_same_bytes(service):
    for path, body, arguments in SAME:
        for media, form in (('application/json', 'json'), ('application/x-ndjson', 'ndjson'),
                            ('text/csv', 'csv')):
            if path == 'plot' and form != 'json':
                continue
            status, headers, got = service.ask('POST', '/api/' + path, json.dumps(body), Accept=media)
            code, wanted = program(*arguments, '-f', form)
            expect(f'{path} {form}', status == 200 and code == 0 and got == wanted,
                   f'{status}, {len(got)} bytes, not {len(wanted)}: {got[:200]}')
            expect(f'{path} {form} type', headers['Content-Type'] == media, headers['Content-Type'])
    for what in ('hardware', 'precisions', 'operators', 'models', 'layouts', 'engines'):
        _, _, got = service.ask('GET', '/api/list/' + what)
        expect(f'list {what}', got == program('list', what, '-f', 'json')[1])
    _, _, got = service.ask('GET', '/api/list/hardware/gb10')
    expect('list hardware gb10', got == program('list', 'hardware', 'gb10', '-f', 'json')[1])
    _, _, got = service.ask('GET', '/api/list/models?columns=id,parameters', Accept='text/csv')
    expect('a query', got == program('list', 'models', '-f', 'csv', '--columns', 'id,parameters')[1])
    status, headers, got = service.ask('HEAD', '/api/list/hardware/gb10')
    expect('HEAD', (status, got) == (200, b'') and int(headers['Content-Length']) > 1000)
    code, page = program('page')
    status, headers, got = service.ask('GET', '/?x=1')
    expect('the explorer', (status, got) == (200, page) if code == 0 else status == 404, status)


def test_inline_documents(service):
    device = {'bandwidth_gb_s': 100, 'peak_tflops': {'fp16': 1}}
    config = {'model_type': 'llama', 'hidden_size': 64, 'num_hidden_layers': 4, 'vocab_size': 1000,
              'num_attention_heads': 8, 'num_key_value_heads': 2, 'intermediate_size': 80}
    status, _, got = service.ask('POST', '/api/predict', json.dumps(
        {'operator': 'gemv', 'n': 4096, 'k': 4096, 'hardware': device}))
    # 4096 * 4096 * 2 bytes of weights, 4096 * 2 in and out, at 100 GB/s
    expect('a device', status == 200 and json.loads(got)['time_us'] == (33554432 + 16384) / 1e5, got)
    status, _, got = service.ask('POST', '/api/predict', json.dumps({'model': config}))
    expect('a model', status == 200 and json.loads(got)['fits'] is True, got[:200])


def test_events(service):
    load = {'model': 'llama-3-8b', 'hardware': 'h100-sxm', 'rate': 2, 'prompt': 500, 'generate': 50, 'requests': 100}
    same = ['simulate', 'llama-3-8b', '-H', 'h100-sxm', '--rate', '2', '--prompt', '500', '--generate', '50', '--requests', '100']
    for path, body, arguments, code, end in (
            ('sweep', {'operator': 'gemm', 'm': '1:4:x2', 'n': 64, 'k': 64},
             ['sweep', 'gemm', '-m', '1:4:x2', '-n', '64', '-k', '64'], 0, b'{}'),
            ('simulate', load, same, 0, b'{}'),
            ('simulate', {**load, 'rows': 'requests'}, [*same, '--rows', 'requests'], 0, b'{}'),
            # limits that are missed: the row is whole, and the end says what the exit code says
            ('simulate', {**load, 'max_ttft': 'p99:1us'}, [*same, '--max-ttft', 'p99:1us'], 1, b'{"status":422}')):
        status, headers, got = service.ask('POST', '/api/' + path, json.dumps(body), Accept='text/event-stream')
        ended, rows = program(*arguments, '-f', 'ndjson')
        wanted = b''.join(b'data: ' + row + b'\n\n' for row in rows.splitlines())
        expect(f'events of {body}', (status, ended, got) == (200, code, wanted + b'event: end\ndata: ' + end + b'\n\n') and rows,
               f'{status} {ended} {got[-300:]}')
        expect('their type', headers['Content-Type'] == 'text/event-stream')
        expect('in pieces', headers['Transfer-Encoding'] == 'chunked')
    for body, wanted in (({**load, 'rate': 0}, 400), ({**load, 'hardware': 'l40s', 'model': 'llama-3-70b'}, 422)):
        status, headers, got = service.ask('POST', '/api/simulate', json.dumps(body), Accept='text/event-stream')
        expect(f'no events of {body}', status == wanted == json.loads(got)['error']['status'] and
               headers['Content-Type'] == 'application/json', f'{status} {got[:300]}')


def test_refusals(service):
    gemm = '{"operator": "gemm", "m": 1, "n": 64, "k": 64%s}'
    cases = [
        (400, 'POST', '/api/predict', gemm % ', "m2": 1', None),
        (400, 'POST', '/api/predict', gemm % ', "from": "/etc/passwd"', None),
        (400, 'POST', '/api/predict', gemm % ', "calibration": "/etc/passwd"', 'calibration'),
        (400, 'POST', '/api/sweep', gemm % ', "threads": 1000', 'threads'),
        (400, 'POST', '/api/simulate', '{"model": "llama-3-8b", "trace": "/etc/passwd"}', 'trace'),
        (400, 'POST', '/api/predict', gemm % ', "hardware": "/etc/passwd"', None),
        (400, 'POST', '/api/predict', gemm % ', "hardware": "../h.json"', None),
        (400, 'POST', '/api/predict', gemm % ', "hardware": "h.json"', None),
        (400, 'POST', '/api/predict', gemm % ', "hardware": "folder"', None),
        (400, 'POST', '/api/predict', '{"model": "m.json"}', None),
        (400, 'POST', '/api/predict', '{"model": "folder"}', None),
        (400, 'POST', '/api/predict', '{"model": "./folder"}', None),
        (400, 'POST', '/api/predict', '{"model": "folder/m"}', None),
        (400, 'POST', '/api/predict', '{"model": "m.gguf"}', None),
        (400, 'POST', '/api/predict', '{"model": "llama-3-8b", "layout": "./l.json"}', None),
        (400, 'POST', '/api/predict', '{"model": "llama-3-8b", "draft_model": "./m.json"}', None),
        (400, 'POST', '/api/predict', '{"operator": "m.json"}', None),
        (400, 'POST', '/api/predict', '{"operator": "gemm"}', 'm'),
        (400, 'POST', '/api/predict', '', None),
        (400, 'POST', '/api/predict', '[1]', None),
        (400, 'POST', '/api/predict', gemm % ', "m": 2', None),
        (400, 'POST', '/api/predict', '[' * 1000, None),
        (400, 'POST', '/api/predict?m=1', gemm % '', None),
        (400, 'GET', '/api/list/nothing', None, None),
        (400, 'GET', '/api/list/hardware/..%2F..%2Fx', None, None),
        (400, 'GET', '/api/list/%00', None, None),
        (400, 'GET', '/api/nvml/status?from=/etc/passwd', None, 'from'),
        (404, 'GET', '/nothing', None, None),
        (404, 'GET', '/api/../etc/passwd', None, None),
        (405, 'GET', '/api/predict', None, None),
        (405, 'POST', '/', '', None),
        (405, 'HEAD', '/api/nvml/stream', None, None),
        (422, 'POST', '/api/recommend', '{"model": "llama-3-70b", "hardware": "l4", "devices": 1}', None),
        (429, 'POST', '/api/sweep', gemm.replace('"m": 1', '"m": "1:1M"') % '', None),
    ]
    for status, method, path, body, key in cases:
        name = f'{method} {path} {body}'
        got, headers, text = service.ask(method, path, body)
        expect(name, got == status, f'{got} {text[:300]}')
        if method != 'HEAD' and status != 422:
            error = json.loads(text)['error'] if got != 200 else {}
            expect(name + ' says', error.get('status') == status and error.get('message'), text[:300])
            expect(name + ' key', key is None or error.get('key') == key, text[:300])
        expect(name + ' allow', status != 405 or headers['Allow'], headers)
    status, _, text = service.ask('POST', '/api/recommend', cases[-2][3])
    expect('a no is the document', 'rejected' in json.loads(text), text[:200])


def test_hosts(service):
    for host, status in (('localhost', 200), ('127.0.0.1:1', 200), ('[::1]:80', 200), ('name.test', 200),
                         ('name.test:8080', 200), ('evil.test', 403), ('localhost.evil.test', 403),
                         ('127.0.0.1.evil.test', 403), ('', 403), ('a@localhost', 403),
                         ('localhost:80:80', 403), ('[::1', 403)):
        got, _, text = service.ask('GET', '/api/list/hardware/gb10', Host=host)
        expect(f'Host {host}', got == status, f'{got} {text[:200]}')
    for origin, status in ((f'http://{service.host}', 200), (f'https://{service.host}', 200),
                           ('http://evil.test', 403), ('null', 403), (f'http://{service.host}.evil.test', 403)):
        got, _, _ = service.ask('GET', '/api/list/hardware/gb10', Origin=origin)
        expect(f'Origin {origin}', got == status, got)


def test_malformed(service):
    head = b'Host: localhost\r\n'
    get = b'GET /api/list/hardware/gb10 HTTP/1.1\r\n'
    post = b'POST /api/predict HTTP/1.1\r\n' + head
    cases = [
        (400, b'\r\n\r\n'), (400, b'GET\r\n\r\n'), (400, b'GET  / HTTP/1.1\r\n' + head + b'\r\n'),
        (400, b'GET http://localhost/ HTTP/1.1\r\n' + head + b'\r\n'),
        (400, get + b'\r\n'), (400, get + head + head + b'\r\n'), (400, get + b'Host : localhost\r\n\r\n'),
        (400, get + head + b' folded: 1\r\n\r\n'), (400, get + head + b'a\r\n\r\n'),
        (400, get + head + b'a: \x01\r\n\r\n'), (400, get + head + b'a: 1\nb: 2\r\n\r\n'),
        (400, get + head + b'a: 1\rb: 2\r\n\r\n'), (400, b'GET /\x00 HTTP/1.1\r\n' + head + b'\r\n'),
        (400, b'GET /%zz HTTP/1.1\r\n' + head + b'\r\n'),
        (505, b'GET / HTTP/2.0\r\n' + head + b'\r\n'), (400, b'GET / HTTP/1.11\r\n' + head + b'\r\n'),
        (414, b'GET /' + b'a' * 3000 + b' HTTP/1.1\r\n' + head + b'\r\n'),
        (431, get + b'a: ' + b'b' * 17000), (431, get + b'a: ' + b'b' * 17000 + b'\r\n\r\n'),
        # of two meanings
        (400, post + b'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
        (400, post + b'Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}'),
        (400, post + b'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'),
        (400, post + b'Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}'),
        (400, post + b'Content-Length: +2\r\n\r\n{}'), (400, post + b'Content-Length: 2, 2\r\n\r\n{}'),
        (400, post + b'Content-Length: -1\r\n\r\n'), (400, post + b'Content-Length: 0x2\r\n\r\n{}'),
        (400, post + b'Content-Length:\r\n\r\n'), (411, post + b'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
        (411, post + b'Transfer-Encoding: identity\r\n\r\n'),
        (413, post + b'Content-Length: 1048577\r\n\r\n'),
        (413, post + b'Content-Length: 99999999999999999999999999\r\n\r\n'),
    ]
    for status, data in cases:
        # what follows would be answered if the service read on
        reply = service.raw(data + b'GET /api/list/hardware/gb10 HTTP/1.1\r\n' + head + b'\r\n')
        expect(f'{data[:90]}', status_of(reply) == status, reply[:200])
        closes = b'\r\nConnection: close\r\n' in reply and len(re.findall(rb'HTTP/1.1 \d', reply)) == 1
        expect(f'{data[:90]} closes', closes or b'%zz' in data, reply[:300])


def test_connections(service):
    get = b'GET /api/list/hardware/gb10 HTTP/1.1\r\nHost: localhost\r\n\r\n'
    reply = service.raw(get * 100)
    expect('100 requests at once', reply.count(b'HTTP/1.1 200 OK') == 100, reply.count(b'HTTP/1.1'))
    reply = service.raw(get.replace(b'1.1', b'1.0'))
    expect('HTTP/1.0', status_of(reply) == 200 and b'Connection: close' in reply, reply[:200])
    sweep = b'{"operator": "gemm", "m": "1:9", "n": 64, "k": 64}'
    post = b'POST /api/sweep HTTP/1.%d\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s'
    with service.connect() as s: # the answer of a thread, then another request
        s.sendall(post % (1, len(sweep), sweep) + get.replace(b'\r\n\r\n', b'\r\nConnection: close\r\n\r\n'))
        reply = read_all(s)
    expect('a sweep, and a request behind it', reply.count(b'HTTP/1.1 200 OK') == 2, reply[-200:])
    with service.connect() as s:
        s.sendall(post % (0, len(sweep), sweep))
        reply = read_all(s)
    expect('a sweep by HTTP/1.0', b'chunked' not in reply and reply.count(b'"m":') == 9, reply[:200])
    with service.connect() as s:
        s.sendall(b'POST /api/predict HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n'
                  b'Content-Length: 49\r\nConnection: close\r\n\r\n')
        expect('100 Continue', s.recv(100) == b'HTTP/1.1 100 Continue\r\n\r\n')
        s.sendall(b'{"operator": "gemm", "m": 1, "n": 64, "k": 64   }')
        expect('and then the answer', status_of(read_all(s)) == 200)
    with service.connect() as s: # byte by byte
        for byte in get.replace(b'\r\n\r\n', b'\r\nConnection: close\r\n\r\n'):
            s.sendall(bytes([byte]))
        expect('byte by byte', status_of(read_all(s)) == 200)
    with service.connect() as s: # it leaves in the middle of an answer
        large = b'{"operator": "gemm", "m": "1:90000", "n": 64, "k": 64}'
        s.sendall(post % (1, len(large), large))
        s.recv(1000)
    expect('it lives', service.ask('GET', '/api/list/hardware/gb10')[0] == 200)


def test_many(service):
    """Idle connections, each of which is answered in the end."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(IDLE, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count + 200)), hard))
    idle = []
    for _ in range(count):
        idle.append(service.connect())
    begin = time.monotonic()
    status = service.ask('GET', '/api/list/hardware/gb10')[0]
    took = time.monotonic() - begin
    expect(f'an answer beside {count} idle connections', status == 200 and took < 10 * SLOWER, f'{status}, {took} s')
    for s in idle:
        s.sendall(b'GET /api/list/precisions/fp16 HTTP/1.1\r\nHost: localhost\r\n\r\n')
    good = sum(s.recv(12) == b'HTTP/1.1 200' for s in idle)
    expect(f'answers on {count} connections', good == count, good)
    for s in idle:
        s.close()


def test_memory(service):
    """No growth over requests of each kind."""
    body = {path: json.dumps(body) for path, body, _ in SAME if path != 'sweep'}
    body['sweep'] = '{"operator": "gemm", "m": "1:9", "n": 64, "k": 64}'

    def ask_many(count):
        connection = http.client.HTTPConnection('127.0.0.1', service.port, timeout=120)
        for i in range(count):
            path = ('predict', 'sweep', 'predict', 'nothing')[i % 4]
            connection.request('POST', '/api/' + path, body.get(path, '{'))
            connection.getresponse().read()
        connection.close()

    def resident():
        with open(f'/proc/{service.process.pid}/statm') as file:
            return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

    ask_many(400)
    before = resident()
    ask_many(REQUESTS)
    grown = resident() - before
    expect(f'no growth over {REQUESTS} requests', grown < 2 << 20, f'{grown} bytes')
    if REQUESTS > 2000:
        print(f'{grown} bytes more after {REQUESTS} requests, of {before}')


def test_slow():
    """A head, a body that do not come to an end are refused after their time."""
    with Service() as service:
        heads = [(10, b'GET / HTTP/1.1\r\nHost: '), (20, b'POST /api/predict HTTP/1.1\r\nHost: localhost\r\n'
                                                        b'Content-Length: 1000\r\n\r\n')]

        def drip(after_s, head):
            begin = time.monotonic()
            with service.connect() as s:
                s.sendall(head)
                s.settimeout(0.5)
                reply = b''
                while time.monotonic() - begin < after_s + 60 and not reply:
                    try:
                        s.sendall(b'a')
                    except OSError:
                        pass  # it is closed; the reply can still be read
                    try:
                        reply = s.recv(4096)
                    except TimeoutError:
                        pass
                return reply, time.monotonic() - begin

        with concurrent.futures.ThreadPoolExecutor() as pool:
            for (after_s, head), (reply, took) in zip(heads, pool.map(lambda c: drip(*c), heads)):
                expect(f'slow {head[:20]}', status_of(reply) == 408 and after_s - 1 < took < after_s + 30,
                       f'{reply[:100]} after {took} s')


def test_costs():
    with Service('--max-rows', '10', '--max-connections', '3') as service:
        body = '{"operator": "gemm", "m": "1:%d", "n": 64, "k": 64}'
        expect('10 rows', service.ask('POST', '/api/sweep', body % 10)[0] == 200)
        expect('11 rows', service.ask('POST', '/api/sweep', body % 11)[0] == 429)
        get = b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
        kept, until = [], time.monotonic() + 30
        while len(kept) < 3 and time.monotonic() < until:
            s = service.connect()  # while the service still counts one of before, it may be turned away
            try:
                s.sendall(get)
                answered = status_of(s.recv(4096)) not in (503, 0)
            except OSError:
                answered = False
            if answered:
                kept.append(s)
            else:
                s.close()
        reply = service.raw(get)
        expect('a fourth connection', status_of(reply) in (503, 0), reply)
        for s in kept:
            s.close()
    with Service('--max-rows', '100M', '--max-time', '200ms') as service:
        begin = time.monotonic()
        with service.connect() as s:
            large = b'{"model": "deepseek-v3", "batch": "1:1000000", "hardware": "gb200", "tp": 8}'
            # If no row was sent in time, the answer is a refusal, after which the connection would stay open.
            s.sendall(b'POST /api/sweep HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' %
                      (len(large), large))
            reply = read_all(s)
        for path, body in (
                ('recommend', '{"model": "llama-3-70b", "hardware": ["h100-sxm", "hgx-b200"], "batch": "1:2000"}'),
                ('simulate', '{"model": "llama-3-8b", "hardware": "h100-sxm", "rate": 9, "prompt": 500, "generate": 200, "requests": 1000000}')):
            status, _, text = service.ask('POST', '/api/' + path, body)
            expect(f'{path} that takes too long', status == 429, f'{status} {text[:300]}')
        took = time.monotonic() - begin
        expect('too long', took < 20 * SLOWER and not reply.endswith(b'0\r\n\r\n'), f'{took} s {reply[-100:]}')


def test_token():
    with open('token', 'w') as file:
        file.write('0123456789abcdef\n')
    with Service('--token', 'token') as service:
        for token, status in (('Bearer 0123456789abcdef', 200), ('bearer 0123456789abcdef', 200),
                              ('Bearer 0123456789abcdeF', 401), ('Bearer 0123456789abcde', 401),
                              ('Basic 0123456789abcdef', 401), ('', 401)):
            got, headers, _ = service.ask('GET', '/api/list/hardware/gb10', Authorization=token)
            expect(f'token {token}', got == status, got)
            expect('how', status == 200 or headers['WWW-Authenticate'] == 'Bearer')
    for content in ('short', 'with a blank in its middle', ''):
        with open('token', 'w') as file:
            file.write(content)
        done = subprocess.run([PROGRAM, 'serve', '--token', 'token'], capture_output=True, check=False)
        expect(f'token {content}', done.returncode == 3 and b'token:1: ' in done.stderr, done)
    for arguments, code in ((['--listen', '0.0.0.0:0'], 2), (['--listen', '[::]:0'], 2),
                            (['--listen', '127.0.0.1'], 2), (['--listen', 'name:80'], 2),
                            (['--listen', '127.0.0.1:70000'], 2), (['--token', 'none'], 4),
                            (['--listen', '127.0.0.1:' + str(taken())], 4), (['extra'], 2)):
        done = subprocess.run([PROGRAM, 'serve', *arguments], capture_output=True, check=False, timeout=20)
        expect(f'{arguments}', done.returncode == code and done.stderr.count(b'\n') == 1, done)


def taken():
    """A port that something listens at, for as long as the program runs."""
    s = socket.create_server(('127.0.0.1', 0))
    held.append(s)
    return s.getsockname()[1]


held = []


def test_signals():
    for number in (signal.SIGTERM, signal.SIGINT):
        with Service() as service:
            # more than buffers hold, and far from the limit of an answer's time under a sanitizer
            large = '{"operator": "gemm", "m": "1:100000", "n": 64, "k": 64, "columns": "m,n,k,time_us,flops,bytes"}'
            idle = service.connect()
            connection = http.client.HTTPConnection('127.0.0.1', service.port, timeout=120)
            connection.request('POST', '/api/sweep', large)
            response = connection.getresponse()
            response.read(1000)
            service.process.send_signal(number)
            rest = response.read()
            expect(f'{number!r}: the answer under way is whole', rest.count(b'\n') > 90000, len(rest))
            expect(f'{number!r}: an idle connection is closed', idle.recv(1) == b'')
            try:
                code = service.process.wait(20)
            except subprocess.TimeoutExpired:
                code = 'none'
            expect(f'{number!r}: the exit code', code == 0, code)


def test_gpus(service):
    for path in ('status', 'stream'):
        status, headers, text = service.ask('GET', '/api/nvml/' + path)
        expect(f'no GPU: {path}', status == 503 and b'no GPU' in text and headers['Retry-After'], text)
    with Service(LD_LIBRARY_PATH=FAKES + '/nvidia') as fake:
        status, _, text = fake.ask('GET', '/api/nvml/status')
        expect('one sample', status == 200 and json.loads(text)['source'] == 'nvml', text[:300])
        status, headers, text = fake.ask('GET', '/api/nvml/stream?interval=50ms&seconds=0.3&device=0')
        rows = [json.loads(line[6:]) for line in text.split(b'\n') if line.startswith(b'data: {"')]
        times = [row['time_s'] for row in rows]
        expect('a stream', status == 200 and 4 <= len(rows) <= 8 and times == sorted(times), text[:500])
        expect('its end', text.endswith(b'event: end\ndata: {}\n\n'), text[-100:])
        with fake.connect() as s:
            s.sendall(b'GET /api/nvml/stream HTTP/1.1\r\nHost: localhost\r\n\r\n')
            expect('a stream without an end', s.recv(12) == b'HTTP/1.1 200')
            fake.process.send_signal(signal.SIGTERM)
            expect('ends with the service', fake.process.wait(20) == 0)


def test_description(service):
    _, _, text = service.ask('GET', '/api/openapi.json')
    described = json.loads(text)
    expect('OpenAPI', described['openapi'] == '3.1.0' and len(described['paths']) == 12)
    events = {path for path, methods in described['paths'].items() for about in methods.values()
              if 'text/event-stream' in about['responses']['200']['content']}
    expect('events as described', events == {'/api/sweep', '/api/simulate', '/api/nvml/stream'}, events)
    try:
        import jsonschema
    except ImportError:
        return
    for path, body, _ in SAME:
        for media in described['paths']['/api/' + path]['post']['responses']['200']['content']:
            status, headers, _ = service.ask('POST', '/api/' + path, json.dumps(body), Accept=media)
            expect(f'{path} as {media}', (status, headers['Content-Type']) == (200, media), f'{status} {headers}')
        about = described['paths']['/api/' + path]['post']['requestBody']['content']
        schema = about['application/json']['schema']
        jsonschema.Draft202012Validator.check_schema(schema)
        given = {key: value for key, value in body.items() if value is not None}
        errors = [e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(given)]
        expect(f'{path} as it is described', not errors, errors)


def sanitizer(line):
    """Tells if a line of the log is the report of a sanitizer or of valgrind."""
    return not line.startswith('{') and line.strip()


def test_log(service):
    service.ask('GET', '/api/list/hardware/gb10')
    with open('log') as file:
        lines = [json.loads(line) for line in file if not sanitizer(line)]
    expect('the log', all(set(line) == {'time', 'client', 'request', 'status', 'bytes', 'ms'}
                          for line in lines) and len(lines) > 100, lines[:1])


def main():
    os.makedirs('folder/m')
    config = ('{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4, "vocab_size": 1000, '
              '"num_attention_heads": 8, "intermediate_size": 80}')
    for name in ('m.json', 'folder/config.json', 'folder/m/config.json', 'm.gguf'):
        with open(name, 'w') as file:
            file.write(config)
    for name in ('h.json', 'folder/hardware.json'):
        with open(name, 'w') as file:
            file.write('{"bandwidth_gb_s": 100, "peak_tflops": {"fp16": 1}}')
    with concurrent.futures.ThreadPoolExecutor() as pool:
        slow = pool.submit(test_slow)
        with Service('--allow-host', 'other.test,name.test') as service:
            for test in (test_same_bytes, test_inline_documents, test_events, test_refusals, test_hosts,
                         test_malformed, test_connections, test_description, test_gpus, test_memory,
                         test_many, test_log):
                test(service)
        for test in (test_costs, test_token, test_signals):
            test()
        slow.result()
    with open('log') as file: # standard error of all services
        reports = [line for line in file if sanitizer(line)]
    expect('no sanitizer reports anything', not reports, ''.join(reports[:20]))
    print(f'{checks} requests and connections, {failures} failed')
    return failures > 0


sys.exit(main())
