// Formats of to_char, to_date and to_timestamp as DuckDB writes them. What both would show differently, such as names padded with
// spaces or in capitals, is not translated.

const DIGITS: Readonly<Record<string, string>> = {
  YYYY: 'Y',
  IYYY: 'G',
  YY: 'y',
  MM: 'm',
  DDD: 'j',
  DD: 'd',
  HH24: 'H',
  HH12: 'I',
  HH: 'I',
  MI: 'M',
  SS: 'S',
  MS: 'g',
  US: 'f',
  IW: 'V',
  ID: 'u',
  OF: 'z',
}
/** In this case of letters alone. */
const NAMES: Readonly<Record<string, string>> = { FMMonth: '%B', Mon: '%b', FMDay: '%A', Dy: '%a', AM: '%p', PM: '%p' }
/** A word in double quotes is itself; longer parts come first. */
const PART = new RegExp(
  `"([^"]*)"|${Object.keys(NAMES).join('|')}|(?:FM)?(?:${Object.keys(DIGITS).join('|')})|[a-z0-9]+|[^a-z0-9]`,
  'giy',
)

/** Undefined for a format that has something else in it, such as the digits of a number. */
export function formatFrom(postgres: string): string | undefined {
  let isKnown = true
  const format = postgres.replaceAll(PART, (part: string, literal: string | undefined) => {
    if (literal !== undefined) return percentTwice(literal)
    const digits = DIGITS[part.toUpperCase().replace(/^FM/, '')]
    const known = NAMES[part] ?? (digits && `%${/^FM/i.test(part) ? '-' : ''}${digits}`)
    if (known === undefined && /[a-z0-9]/i.test(part)) isKnown = false
    return known ?? percentTwice(part)
  })
  return isKnown ? format : undefined
}

const percentTwice = (text: string): string => text.replaceAll('%', '%%')
