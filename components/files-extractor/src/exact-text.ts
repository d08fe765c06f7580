// Numbers and times of binary formats as texts, without passing through a floating-point number.

export function decimalText(whole: bigint, scale: number): string {
  if (scale <= 0) return String(whole * 10n ** BigInt(-scale))
  const digits = String(whole < 0n ? -whole : whole).padStart(scale + 1, '0')
  return `${whole < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const SECOND = 1_000_000n

/** Microseconds since 1970 as `2026-02-28 23:59:59.5`, in UTC. */
export function microsText(micros: bigint): string {
  const part = ((micros % SECOND) + SECOND) % SECOND
  const moment = new Date(Number((micros - part) / 1000n)).toISOString().replace('T', ' ').replace('.000Z', '')
  const fraction = String(part).padStart(6, '0').replace(/0+$/, '')
  return fraction === '' ? moment : `${moment}.${fraction}`
}

export const bytesText = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`
