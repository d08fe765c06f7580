// How PHP writes numbers as text (contract section 13.3): 14 significant digits, exponent form when the decimal
// exponent, after rounding, is below -4 or at least 15 digits would be needed before the point.

export function floatText(n: number): string {
  if (Number.isNaN(n)) return 'NAN'
  if (!Number.isFinite(n)) return n > 0 ? 'INF' : '-INF'
  if (n === 0) return Object.is(n, -0) ? '-0' : '0'
  if (Number.isInteger(n) && Math.abs(n) < 1e14) return String(n)
  const [mantissa, exp] = n.toExponential(13).split('e') as [string, string]
  const power = Number(exp)
  const digits = mantissa.replace(/\.?0+$/, '')
  if (power < -4 || power >= 14) return `${digits.includes('.') ? digits : `${digits}.0`}E${power < 0 ? '-' : '+'}${Math.abs(power)}`
  // toPrecision never uses the exponent form in this range.
  const plain = n.toPrecision(14)
  return plain.includes('.') ? plain.replace(/\.?0+$/, '') : plain
}
