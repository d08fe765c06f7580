// `date(format, time)`: the letters of PHP's date, always in UTC (spec extractor 1.4 and 24).

import { PHP_DATE_LETTERS } from '../../../../contract/php-date.ts'

/** Times are whole seconds here, so fractions are always zero. */
export function formatDate(format: string, unixSeconds: number): string {
  const date = new Date(Math.floor(unixSeconds) * 1000)
  if (Number.isNaN(date.getTime())) throw new RangeError(`the time ${unixSeconds} is out of range`)
  let out = ''
  for (let i = 0; i < format.length; i++) {
    const letter = format[i]!
    if (letter === '\\') out += format[++i] ?? ''
    else out += PHP_DATE_LETTERS[letter]?.(date) ?? letter
  }
  return out
}
