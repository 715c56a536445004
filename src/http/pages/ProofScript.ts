import { hash } from "node:crypto"

/*
 * Searches the number in the browser, without blocking the page. It has its own SHA-256, because the browser's works
 * only on pages with TLS, and is slow for so many short texts.
 */
const text = `
"use strict"
const K = new Uint32Array(64), H0 = new Uint32Array(8)
for (let n = 2, count = 0; count < 64; n++) {
  let isPrime = true
  for (let d = 2; d * d <= n; d++) if (n % d === 0) isPrime = false
  if (!isPrime) continue
  const part = (power) => { const root = Math.pow(n, power); return Math.floor((root - Math.floor(root)) * 4294967296) }
  if (count < 8) H0[count] = part(1 / 2)
  K[count++] = part(1 / 3)
}
const W = new Uint32Array(64)
const turn = (x, n) => (x >>> n) | (x << (32 - n))
const block = (H, bytes, at) => {
  for (let i = 0; i < 16; i++) {
    const p = at + i * 4
    W[i] = (bytes[p] << 24) | (bytes[p + 1] << 16) | (bytes[p + 2] << 8) | bytes[p + 3]
  }
  for (let i = 16; i < 64; i++) {
    const a = W[i - 15], b = W[i - 2]
    W[i] = W[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + W[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10))
  }
  let [a, b, c, d, e, f, g, h] = H
  for (let i = 0; i < 64; i++) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + W[i]) | 0
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0
  }
  H[0] += a; H[1] += b; H[2] += c; H[3] += d; H[4] += e; H[5] += f; H[6] += g; H[7] += h
}
const zeros = (message) => {
  const length = message.length, size = ((length + 72) >> 6) << 6
  const bytes = new Uint8Array(size)
  for (let i = 0; i < length; i++) bytes[i] = message.charCodeAt(i)
  bytes[length] = 128
  bytes[size - 2] = (length * 8) >>> 8; bytes[size - 1] = (length * 8) & 255
  const H = H0.slice()
  for (let at = 0; at < size; at += 64) block(H, bytes, at)
  return H[0] === 0 ? 32 + Math.clz32(H[1]) : Math.clz32(H[0])
}
const search = (challenge, bits, from, count) => {
  for (let n = from; n < from + count; n++) if (zeros(challenge + ":" + n) >= bits) return n
  return -1
}
const form = document.getElementById("captcha")
const challenge = form.elements.challenge.value
const bits = Number(challenge.split(".")[0])
const button = document.getElementById("confirm")
const state = document.getElementById("working")
let at = 0
button.disabled = true
state.hidden = false
const step = () => {
  const found = search(challenge, bits, at, 4096)
  if (found === -1) { at += 4096; setTimeout(step, 0); return }
  form.elements.number.value = String(found)
  state.hidden = true
  button.disabled = false
}
step()
`

/** The script with its hash, so that no other script runs on the page. */
export const proofScript = { text, hash: `sha256-${hash("sha256", text, "base64")}` }
