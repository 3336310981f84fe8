// SPDX-License-Identifier: MIT
// Writes a GGUF file of a llama model with random weights: node model.mjs FILE SHAPE FORMAT
// The layout of the file is that of docs/gguf.md of ggml; shapes are those of shapes.mjs.
import fs from "node:fs";
import {shapes} from "./shapes.mjs";

const [path, shapeName, formatName] = process.argv.slice(2);
const shape = shapes[shapeName];
// GGML types: number, elements of a block, bytes of a block.
const formats = {f32: [0, 1, 4], f16: [1, 1, 2], q4_0: [2, 32, 18], q8_0: [8, 32, 34],
                 q4_k: [12, 256, 144], q6_k: [14, 256, 210]};
const types = {u32: 4, i32: 5, f32: 6, string: 8, array: 9};

const parts = [];
let length = 0;
function put(buffer) {
    parts.push(buffer);
    length += buffer.length;
}
function number(bytes, write) {
    const buffer = Buffer.alloc(bytes);
    write(buffer);
    put(buffer);
}
const u32 = (value) => number(4, (b) => b.writeUInt32LE(value));
const u64 = (value) => number(8, (b) => b.writeBigUInt64LE(BigInt(value)));
const f32 = (value) => number(4, (b) => b.writeFloatLE(value));
function text(value) {
    const bytes = Buffer.from(value);
    u64(bytes.length);
    put(bytes);
}
const writers = {u32, i32: u32, f32, string: text};
function pair(key, type, value) {
    text(key);
    if (!Array.isArray(value)) {
        u32(types[type]);
        writers[type](value);
        return;
    }
    u32(types.array);
    u32(types[type]);
    u64(value.length);
    value.forEach(writers[type]);
}

const {hidden, layers, heads, kvHeads, inner, vocab, experts, used} = shape;
const kv = hidden / heads * kvHeads;
const tensors = [["token_embd", hidden, vocab], ["output_norm", hidden], ["output", hidden, vocab]];
for (let i = 0; i < layers; i++) {
    tensors.push([`blk.${i}.attn_norm`, hidden], [`blk.${i}.attn_q`, hidden, hidden],
                 [`blk.${i}.attn_k`, hidden, kv], [`blk.${i}.attn_v`, hidden, kv],
                 [`blk.${i}.attn_output`, hidden, hidden], [`blk.${i}.ffn_norm`, hidden]);
    const [end, stack] = experts ? ["_exps", [experts]] : ["", []];
    tensors.push([`blk.${i}.ffn_gate${end}`, hidden, inner, ...stack],
                 [`blk.${i}.ffn_up${end}`, hidden, inner, ...stack],
                 [`blk.${i}.ffn_down${end}`, inner, hidden, ...stack]);
    if (experts) {
        tensors.push([`blk.${i}.ffn_gate_inp`, hidden, experts]);
    }
}
const words = [...Array(vocab).keys()];
// Three special tokens, a token for each byte, and words.
function word(i) {
    const byte = (i - 3).toString(16).toUpperCase().padStart(2, "0");
    return ["<unk>", "<s>", "</s>"][i] ?? (i < 259 ? `<0x${byte}>` : `w${i}`);
}
const metadata = [
    ["general.architecture", "string", "llama"], ["general.alignment", "u32", 32],
    ["general.name", "string", `random ${shapeName}`],
    ["llama.context_length", "u32", 4096], ["llama.embedding_length", "u32", hidden],
    ["llama.block_count", "u32", layers], ["llama.feed_forward_length", "u32", inner],
    ["llama.attention.head_count", "u32", heads], ["llama.attention.head_count_kv", "u32", kvHeads],
    ["llama.attention.layer_norm_rms_epsilon", "f32", 1e-5],
    ["llama.rope.dimension_count", "u32", hidden / heads], ["llama.vocab_size", "u32", vocab],
    ["tokenizer.ggml.model", "string", "llama"],
    ["tokenizer.ggml.tokens", "string", words.map(word)],
    ["tokenizer.ggml.scores", "f32", words.map((i) => -i)],
    ["tokenizer.ggml.token_type", "i32", words.map((i) => i === 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1)],
    ["tokenizer.ggml.bos_token_id", "u32", 1], ["tokenizer.ggml.eos_token_id", "u32", 2],
];

if (experts) {
    metadata.push(["llama.expert_count", "u32", experts],
                  ["llama.expert_used_count", "u32", used]);
}

put(Buffer.from("GGUF"));
u32(3);
u64(tensors.length);
u64(metadata.length);
metadata.forEach((row) => pair(...row));
let offset = 0;
const pad = (bytes) => (bytes + 31) & ~31;
const sizes = tensors.map(([name, ...dims]) => {
    const [type, elements, bytes] = formats[dims.length === 1 || name.endsWith("_inp") ? "f32" : formatName];
    text(`${name}.weight`);
    u32(dims.length);
    dims.forEach(u64);
    u32(type);
    u64(offset);
    const size = dims.reduce((a, b) => a * b) / elements * bytes;
    offset += pad(size);
    return {type, size, routes: name.endsWith("_inp")};
});
put(Buffer.alloc(pad(length) - length));

// Random bits (xorshift32), with scales and exponents that keep activations finite.
let state = 1;
function random() {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
}
const file = fs.openSync(path, "w");
parts.forEach((part) => fs.writeSync(file, part));
for (const {type, size, routes} of sizes) {
    const bytes = Buffer.alloc(pad(size));
    const halves = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
    const words32 = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    for (let i = 0; i < words32.length; i++) {
        words32[i] = random();
    }
    if (type === 0) { // gains, and routers, which choose other experts for each token
        const floats = new Float32Array(bytes.buffer, bytes.byteOffset, size >> 2);
        floats.forEach((_, i) => { floats[i] = routes ? words32[i] / 2 ** 31 - 1 : 1; });
    } else if (type === 1) {
        for (let i = 0; i < halves.length; i++) {
            halves[i] = halves[i] & 0x83ff | 0x2000; // 2^-7 to 2^-6
        }
    } else {
        // The halves of a block, and those that are scales: 2^-9; 2^-13; 2^-14 and a minimum of 2^-11; 2^-16.
        const [block, scales] = {2: [9, {0: 0x1800}], 8: [17, {0: 0x0800}],
                                 12: [72, {0: 0x0400, 1: 0x1000}], 14: [105, {104: 0x0100}]}[type];
        for (let i = 0; i + block <= halves.length; i += block) {
            for (const [at, scale] of Object.entries(scales)) {
                halves[i + Number(at)] = scale;
            }
        }
    }
    fs.writeSync(file, bytes, 0, pad(size));
}
fs.closeSync(file);
