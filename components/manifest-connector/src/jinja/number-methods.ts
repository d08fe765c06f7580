// The attributes and methods of integers, floats and booleans.

import { ConnectorError } from '../errors.ts'
import { Bytes } from '../python/bytes.ts'
import { smallest, truncated } from '../python/numbers.ts'
import { asNumber, isFloat, type PyFloat, Tuple, toFloat } from '../python/values.ts'
import { whole } from './arguments.ts'
import { type Methods, methodsOf } from './methods.ts'

type Integer = number | bigint

const INTEGER: Methods<Integer> = {
  conjugate: ['', (n) => n],
  as_integer_ratio: ['', (n) => Tuple.of<unknown>(n, 1)],
  bit_length: ['', (n) => (n === 0 ? 0 : digitsOf(n).length)],
  bit_count: ['', (n) => digitsOf(n).replaceAll('0', '').length],
  to_bytes: ['length? byteorder?', (n, [length = 1, order = 'big']) => bytesOf(n, whole(length), order)],
}

const FLOAT: Methods<number | PyFloat> = {
  conjugate: ['', (n) => n],
  is_integer: ['', (n) => Number.isInteger(asNumber(n))],
  as_integer_ratio: ['', (n) => ratio(asNumber(n))],
}

const digitsOf = (value: Integer) => BigInt(value < 0 ? -value : value).toString(2)

function bytesOf(value: Integer, length: number, order: unknown): Bytes {
  if (value < 0) throw new ConnectorError("OverflowError: can't convert negative int to unsigned")
  const hex = BigInt(value).toString(16)
  if (hex.length > length * 2 || length > 1000) throw new ConnectorError('OverflowError: int too big to convert')
  const bytes = Buffer.from(hex.padStart(length * 2, '0'), 'hex')
  return new Bytes(order === 'little' ? bytes.reverse() : bytes)
}

function ratio(value: number): Tuple {
  truncated(value) // refuses what is not finite
  let under = 1n
  let over = value
  while (!Number.isInteger(over)) {
    over *= 2
    under *= 2n
  }
  return Tuple.of<unknown>(smallest(BigInt(over)), smallest(under))
}

const integerMethod = methodsOf(INTEGER)
const floatMethod = methodsOf(FLOAT)

export function numberMember(value: number | bigint | boolean | PyFloat, name: string): unknown {
  if (isFloat(value)) {
    if (name === 'real') return value
    if (name === 'imag') return toFloat(0)
    if (name === 'hex') throw new ConnectorError("The method 'hex' of floats is not supported.")
    return floatMethod(value, name)
  }
  const integer = typeof value === 'boolean' ? Number(value) : value
  if (name === 'real' || name === 'numerator') return integer
  if (name === 'imag') return 0
  return name === 'denominator' ? 1 : integerMethod(integer, name)
}
