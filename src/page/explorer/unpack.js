// SPDX-License-Identifier: MIT
// Unpacks what assemble.sh put into the page: the scripts and the module, as LZMA. No browser reads
// LZMA by itself, but it takes a fifth less room than gzip, which they read. The names are those of
// the specification in the LZMA SDK; lp and pb are 0, so there are no states by position.
'use strict';

const LITERAL_CONTEXT = 4; // lc of assemble.sh

// Where the probabilities of each kind of bit begin.
const MATCH = 0, REP = 12, REP_0 = 24, REP_1 = 36, REP_2 = 48, REP_0_LONG = 60, SLOT = 72, DISTANCE = 328, ALIGN = 443,
  LENGTH = 459, REP_LENGTH = 733, LITERAL = 1007;

const SHORT = -1; // one byte from the last distance

// Reads bits that were coded with the probability that they are 0, which follows what was read.
class RangeDecoder {
  constructor(input) {
    this.input = input;
    this.probability = new Uint16Array(LITERAL + (0x300 << LITERAL_CONTEXT)).fill(1024);
    this.range = 0xffffffff;
    this.code = 0;
    for (this.at = 1; this.at < 5; this.at += 1) this.code = this.code * 256 + input[this.at];
  }

  // Reads bits behind those of a symbol until it has reached an end; those before a bit choose its
  // probability.
  walk(base, symbol, end) {
    const { probability, input } = this;
    let { range, code } = this;
    while (symbol < end) {
      const i = base + symbol, p = probability[i];
      const bound = (range >>> 11) * p;
      if (code < bound) {
        range = bound;
        probability[i] = p + ((2048 - p) >> 5);
        symbol *= 2;
      } else {
        range -= bound;
        code -= bound;
        probability[i] = p - (p >> 5);
        symbol = symbol * 2 + 1;
      }
      if (range < 0x1000000) {
        range *= 256;
        code = code * 256 + input[this.at];
        this.at += 1;
      }
    }
    this.range = range;
    this.code = code;
    return symbol;
  }

  bit(i) { return this.walk(i - 1, 1, 2) - 2; }

  // A number of several bits, the highest first.
  tree(base, bits) { return this.walk(base, 1, 1 << bits) - (1 << bits); }

  // A number of several bits, the lowest first.
  reverseTree(base, bits) {
    let symbol = 1, value = 0;
    for (let i = 0; i < bits; i += 1) {
      const one = this.bit(base + symbol);
      symbol = symbol * 2 + one;
      value += one << i;
    }
    return value;
  }

  // Bits that are 0 as often as 1.
  direct(bits) {
    let value = 0;
    for (let i = 0; i < bits; i += 1) {
      this.range >>>= 1;
      const one = this.code >= this.range ? 1 : 0;
      if (one) this.code -= this.range;
      if (this.range < 0x1000000) {
        this.range *= 256;
        this.code = this.code * 256 + this.input[this.at];
        this.at += 1;
      }
      value = value * 2 + one;
    }
    return value;
  }

  length(base) {
    if (this.bit(base) === 0) return 2 + this.tree(base + 2, 3);
    return this.bit(base + 1) === 0 ? 10 + this.tree(base + 10, 3) : 18 + this.tree(base + 18, 8);
  }

  // A byte; behind a match its probabilities also depend on the byte at the last distance.
  literal(before, afterMatch, expected) {
    const base = LITERAL + 0x300 * (before >> (8 - LITERAL_CONTEXT));
    let symbol = 1;
    if (afterMatch) {
      for (let i = 7, same = true; i >= 0 && same; i -= 1) {
        const guess = (expected >> i) & 1;
        const one = this.bit(base + 0x100 * (1 + guess) + symbol);
        symbol = symbol * 2 + one;
        same = one === guess;
      }
    }
    return this.walk(base, symbol, 0x100) - 0x100;
  }

  // Which of the last distances comes again.
  recent(state) {
    if (this.bit(REP_0 + state) === 0) return this.bit(REP_0_LONG + state) === 0 ? SHORT : 0;
    if (this.bit(REP_1 + state) === 0) return 1;
    return 2 + this.bit(REP_2 + state);
  }

  distance(length) {
    const slot = this.tree(SLOT + 64 * Math.min(length - 2, 3), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1, high = (2 + (slot & 1)) << bits;
    if (slot < 14) return high + this.reverseTree(DISTANCE + high - slot - 1, bits);
    return high + 16 * this.direct(bits - 4) + this.reverseTree(ALIGN, 4);
  }
}

function decompress(input, size) {
  const decoder = new RangeDecoder(input), out = new Uint8Array(size), recent = [0, 0, 0, 0];
  let state = 0, n = 0;
  while (n < size) {
    if (decoder.bit(MATCH + state) === 0) {
      out[n] = decoder.literal(n > 0 ? out[n - 1] : 0, state >= 7, out[n - recent[0] - 1]);
      n += 1;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let length = 1;
    if (decoder.bit(REP + state) === 0) {
      length = decoder.length(LENGTH);
      recent.unshift(decoder.distance(length));
      recent.pop();
      state = state < 7 ? 7 : 10;
    } else {
      const which = decoder.recent(state);
      if (which !== SHORT) {
        recent.unshift(...recent.splice(which, 1));
        length = decoder.length(REP_LENGTH);
      }
      state = state < 7 ? (which === SHORT ? 9 : 8) : 11;
    }
    for (const end = n + length; n < end; n += 1) out[n] = out[n - recent[0] - 1];
  }
  return out;
}

// Reads bytes that assemble.sh wrote as text, five characters for four.
function fromText(text) {
  const digits = new Uint8Array(128);
  let count = 0;
  for (let i = 33; i < 127; i += 1) if (!'"&\'<>\\`{}'.includes(String.fromCharCode(i))) digits[i] = count++;
  const bytes = new Uint8Array(text.length - Math.ceil(text.length / 5));
  for (let from = 0, to = 0; from < text.length; from += 5, to += 4) {
    let value = 0;
    for (let i = 0; i < 5; i += 1) value = value * 85 + (from + i < text.length ? digits[text.charCodeAt(from + i)] : 84);
    for (let i = 0; i < 4; i += 1) bytes[to + i] = value >>> (24 - 8 * i); // those beyond the end are left out
  }
  return bytes;
}

// The parts of the page by their names, as bytes; data-parts of the script has names and sizes.
function unpack(node) {
  const sizes = node.dataset.parts.trim().split(' ').map((part) => part.split(':'));
  const all = decompress(fromText(node.textContent.trim()), sizes.reduce((sum, [, size]) => sum + Number(size), 0));
  const parts = {};
  let at = 0;
  for (const [name, size] of sizes) {
    parts[name] = all.subarray(at, at + Number(size));
    at += Number(size);
  }
  return parts;
}

const parts = unpack(document.getElementById('packed'));

function partText(name) { return new TextDecoder().decode(parts[name]); }

for (const name of ['chart.js', 'form.js', 'views.js', 'page.js']) {
  const script = document.createElement('script');
  script.textContent = partText(name);
  document.body.append(script);
}
