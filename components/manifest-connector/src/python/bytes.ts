// Python's bytes, of which expressions have few uses: a text encoded, and literals.

import type { PyObject } from './values.ts'

export class Bytes implements PyObject {
  readonly bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
  pyStr(): string {
    return this.pyRepr()
  }
  pyRepr(): string {
    const text = Buffer.from(this.bytes).toString('latin1')
    const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
    let out = ''
    for (const byte of this.bytes) {
      const char = String.fromCharCode(byte)
      if (char === quote || char === '\\') out += `\\${char}`
      else out += SHORT[char] ?? (byte < 32 || byte > 126 ? `\\x${byte.toString(16).padStart(2, '0')}` : char)
    }
    return `b${quote}${out}${quote}`
  }
  pyTruth(): boolean {
    return this.bytes.length > 0
  }
  pyEquals(other: unknown): boolean {
    return other instanceof Bytes && Buffer.compare(this.bytes, other.bytes) === 0
  }
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }
