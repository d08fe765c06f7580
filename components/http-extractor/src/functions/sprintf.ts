// PHP's sprintf: `%[n$][flags][width][.precision]conversion`, flags `-`, `+`, `0`, space and `'c` (pad with c).

import { toText } from '../json/text.ts'

export type Printable = string | number | bigint | boolean | null

const DIRECTIVE = /%(?:(%)|(?:(\d+)\$)?((?:[-+ 0]|'[\s\S])*)(\d+)?(?:\.(\d+))?l?([\s\S])?)/g

export function sprintf(format: string, args: readonly Printable[]): string {
  let next = 0
  return format.replace(DIRECTIVE, (_all, ...groups: (string | undefined)[]) => {
    const [percent, position, flags = '', width = '0', precision, conversion] = groups
    if (percent) return '%'
    if (conversion === undefined) throw new RangeError('the format ends in the middle of a directive')
    const index = position === undefined ? next++ : Number(position) - 1
    if (index < 0) throw new RangeError('argument numbers start at 1')
    if (index >= args.length) throw new RangeError(`the format asks for argument ${index + 1}, but there are ${args.length}`)
    return directive(
      args[index]!,
      readFlags(flags),
      Number(width),
      precision === undefined ? null : Number(precision),
      conversion,
    )
  })
}

interface Flags {
  readonly left: boolean
  readonly plus: boolean
  readonly pad: string
}

function readFlags(text: string): Flags {
  let left = false
  let plus = false
  let pad = ' '
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!
    if (c === '-') left = true
    else if (c === '+') plus = true
    else if (c === "'") pad = text[++i] ?? ' '
    else pad = c
  }
  return { left, plus, pad }
}

function directive(arg: Printable, flags: Flags, width: number, precision: number | null, conversion: string): string {
  switch (conversion) {
    case 's': {
      const text = typeof arg === 'bigint' ? String(arg) : toText(arg)
      return padded(precision === null ? text : text.slice(0, precision), flags, width)
    }
    case 'd':
    case 'i':
      return paddedNumber(signed(toInteger(arg), flags), wholeNumber(flags), width)
    case 'u':
      return paddedNumber(BigInt.asUintN(64, toInteger(arg)).toString(), wholeNumber(flags), width)
    case 'f':
    case 'F':
      return paddedNumber(withSign(fixed(toFloat(arg), precision ?? 6), toFloat(arg), flags), flags, width)
    case 'e':
    case 'E':
      return paddedNumber(withSign(exponent(toFloat(arg), precision ?? 6, conversion), toFloat(arg), flags), flags, width)
    case 'g':
    case 'G':
      return paddedNumber(withSign(general(toFloat(arg), precision ?? 6, conversion), toFloat(arg), flags), flags, width)
    case 'x':
      return padded(BigInt.asUintN(64, toInteger(arg)).toString(16), flags, width)
    case 'X':
      return padded(BigInt.asUintN(64, toInteger(arg)).toString(16).toUpperCase(), flags, width)
    case 'o':
      return padded(BigInt.asUintN(64, toInteger(arg)).toString(8), flags, width)
    case 'b':
      return padded(BigInt.asUintN(64, toInteger(arg)).toString(2), flags, width)
    case 'c':
      return String.fromCharCode(Number(toInteger(arg)) & 0xff)
    default:
      throw new RangeError(`there is no conversion "%${conversion}"`)
  }
}

function padded(text: string, { left, pad }: Flags, width: number): string {
  return left ? text.padEnd(width, pad) : text.padStart(width, pad)
}

/** Zeros behind an integer would make it another one: PHP fills up with blanks instead. */
const wholeNumber = (flags: Flags): Flags => (flags.left && flags.pad === '0' ? { ...flags, pad: ' ' } : flags)

/** Zeros go between the sign and the digits; every other filler goes outside. */
function paddedNumber(text: string, flags: Flags, width: number): string {
  if (flags.pad !== '0' || flags.left) return padded(text, flags, width)
  const sign = /^[-+]/.test(text) ? text[0]! : ''
  return sign + text.slice(sign.length).padStart(width - sign.length, '0')
}

const signed = (n: bigint, { plus }: Flags) => (plus && n >= 0n ? `+${n}` : String(n))
const withSign = (text: string, n: number, { plus }: Flags) => (plus && n >= 0 ? `+${text}` : text)

const fixed = (n: number, digits: number) => n.toFixed(Math.min(digits, 53))

/** PHP writes the exponent without leading zeros: 1.2e+3. */
function exponent(n: number, digits: number, conversion: string): string {
  const text = n.toExponential(Math.min(digits, 53))
  return conversion === 'E' ? text.toUpperCase() : text
}

function general(n: number, digits: number, conversion: string): string {
  const significant = Math.max(digits, 1)
  const power = n === 0 ? 0 : Math.floor(Math.log10(Math.abs(Number(n.toPrecision(significant)))))
  if (power >= -4 && power < significant) return String(Number(n.toPrecision(significant)))
  const [mantissa, exp] = n.toExponential(significant - 1).split('e') as [string, string]
  const trimmed = mantissa.includes('.') ? mantissa.replace(/0+$/, '').replace(/\.$/, '.0') : `${mantissa}.0`
  const text = `${trimmed}e${exp}`
  return conversion === 'G' ? text.toUpperCase() : text
}

function toInteger(arg: Printable): bigint {
  if (typeof arg === 'bigint') return arg
  if (typeof arg === 'string') {
    const whole = /^\s*([-+]?\d+)(?![\d.eE])/.exec(arg)
    if (whole) return BigInt(whole[1]!.replace('+', ''))
  }
  const n = toFloat(arg)
  return Number.isFinite(n) ? BigInt(Math.trunc(n)) : 0n
}

function toFloat(arg: Printable): number {
  if (typeof arg === 'number') return arg
  if (typeof arg === 'string') return Number.parseFloat(arg) || 0
  return Number(arg ?? 0)
}
