// SPDX-License-Identifier: MIT
// The module of the page answers with the bytes of the program: node same.mjs MODULE NATIVE [FACTOR]
// FACTOR 1 asks 5,000 documents and 40,000 shapes; CI takes less.
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import vm from 'node:vm';

// The page's own loader, which is a script and no module.
const openModule = vm.runInThisContext(`${fs.readFileSync('src/page/explorer/module.js')}; openModule`);

const [, , modulePath, native, factorText] = process.argv;
const factor = Number(factorText ?? 1);
const names = (folder) => fs.readdirSync(folder).filter((f) => f.endsWith('.json'))
  .map((f) => path.basename(f, '.json')).sort();
const devices = names('data/hardware');
const models = names('data/models');
const formats = ['fp16', 'bf16', 'fp8', 'int8', 'int4', 'mxfp8', 'mxfp4', 'nvfp4', 'fp32', 'nf4', 'q4_k'];

let state = 0x9e3779b9; // xorshift32: the same questions each time
const random = (bound) => {
  state ^= state << 13; state ^= state >>> 17; state ^= state << 5; state >>>= 0;
  return state % bound;
};
const pick = (list) => list[random(list.length)];
const size = () => 1 + random(1 << (1 + random(15)));

const ask = openModule(new WebAssembly.Module(fs.readFileSync(modulePath)));
const operators = JSON.parse(new TextDecoder().decode(ask(JSON.stringify({ command: 'list', inputs: { list: 'operators' } })).bytes));
// Sizes for the dimensions that an operator must have; those of heads fit each other.
const dimensions = (operator) => Object.fromEntries(operator.dimensions.split(' ').filter((word) => word.startsWith('-'))
  .map((word) => word.replace(/^-+/, '').replaceAll('-', '_')).map((key) => [key, { heads: 8 * (1 + random(16)), kv_heads: 8, head_dim: 64 << random(3), devices: 2 << random(5), top_k: 1 + random(8), experts: 8 + random(300) }[key] ?? size()]));

const documents = [];
for (let i = 0; i < 5000 * factor; i += 1) {
  const common = { hardware: pick(devices), precision: pick(formats) };
  const kind = random(10);
  if (kind < 5) {
    documents.push({ command: 'predict', inputs: { ...common, model: pick(models), batch: size(), context: 1 + random(8192),
      phase: pick(['decode', 'prefill']), tp: pick([1, 2, 4, 8]) } });
  } else if (kind < 7) {
    documents.push({ command: 'predict', inputs: { ...common, model: pick(models), batch: 1 + random(64), prompt: 1 + random(8192), generate: 1 + random(500) } });
  } else if (kind < 8) {
    const operator = pick(operators);
    documents.push({ command: 'predict', inputs: { ...common, operator: operator.name, ...dimensions(operator), why: random(2) === 0 } });
  } else if (kind < 9) {
    documents.push({ command: 'predict', format: pick(['json', 'text', 'md', 'csv']), inputs: { ...common, operator: 'gemm', m: size(), n: size(), k: size(), why: random(2) === 0 } });
  } else if (random(2) === 0) {
    documents.push({ command: 'recommend', inputs: { hardware: common.hardware, operator: 'gemm', m: size(), n: size(), k: size() } });
  } else {
    documents.push({ command: 'simulate', inputs: { hardware: common.hardware, model: pick(['llama-3-8b', 'qwen3-30b-a3b', 'gpt-oss-20b']), by: 'ideal', rate: 1 + random(20), requests: 200,
      prompt: pick(['uniform:10:900', 'lognormal:300:1.5', '500']), generate: 1 + random(100), seed: random(1000) } });
  }
}
// Shapes come in sweeps, whose rows are predictions.
for (let i = 0; i < 40000 * factor; i += 100) {
  const columns = 'time_us,expected_time_us,bytes,arithmetic_intensity,expected_low_us,expected_high_us';
  const ten = () => Array.from({ length: 10 }, size);
  const inputs = random(2) === 0
    ? { operator: 'moe', hardware: pick(devices), precision: pick(formats), tokens: ten(), hidden: ten(), intermediate: size(), experts: 8 + random(500), top_k: 1 + random(8) }
    : { operator: 'gemm', hardware: pick(devices), precision: pick(formats), m: ten(), n: ten(), k: size() };
  documents.push({ command: 'sweep', format: 'csv', inputs: { ...inputs, columns } });
}

const lines = documents.map((d) => JSON.stringify(d));
const run = spawnSync(native, [], { input: `${lines.join('\n')}\n`, maxBuffer: 2 ** 31 - 1 });
if (run.status !== 0) throw new Error(`${native} ended with ${run.status} ${run.signal} ${run.error}`);
let at = 0;
let bytes = 0;
let refused = 0;
let different = 0;
for (const line of lines) {
  const end = run.stdout.indexOf(10, at);
  const [, status, length, message] = /^(\d+) (\d+) (.*)$/s.exec(run.stdout.toString('utf8', at, end));
  const text = run.stdout.subarray(end + 1, end + 1 + Number(length));
  at = end + 1 + Number(length);
  const got = ask(line);
  refused += status !== '0';
  bytes += text.length;
  if (String(got.status) !== status || got.message !== message || Buffer.compare(text, got.bytes) !== 0) {
    different += 1;
    if (different <= 3) console.log(`differs: ${line}\n  ${got.status} ${got.message}\n  ${status} ${message}`);
  }
}
console.log(`${lines.length} questions (${refused} refused), ${bytes} bytes: ${different} differ`);
process.exit(different === 0 && refused < lines.length / 2 ? 0 : 1);
