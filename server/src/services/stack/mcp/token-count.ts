// How many tokens a text costs a language model. No tokenizer is loaded for it: each model has its own, and their tables have megabytes.
// The weights follow the highest count of three tokenizers for rows, numbers, ids, JSON, SQL, prose and ten scripts (its test).

const DIGIT = 0.46
const MARK = 0.62
const LOWER = 0.25
const UPPER = 0.64
/** Words and numbers are tokens, so their first characters cost more than the rest. */
const FIRST_DIGIT = 0.7
const FIRST_AFTER_DIGIT = 0.85
/** Of characters below a code, in their order: accented Latin, Greek, Cyrillic, Hebrew to Indic, Thai to Georgian. */
const SCRIPTS: readonly (readonly [number, number])[] = [
  [0x250, 2.1],
  [0x400, 1.35],
  [0x530, 0.85],
  [0xe00, 1.3],
  [0x2000, 1.9],
]
/** Of all others, most of them Chinese, Japanese and Korean; half of a character outside of the basic plane. */
const OTHER = 1.3

/** An estimate that is rather too high than too low. */
export function tokensOf(text: string): number {
  let tokens = 0
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    tokens += code < 0x80 ? costOfAscii(code, before) : costOfOther(code)
    before = code
  }
  return Math.ceil(tokens)
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const isLower = (code: number): boolean => code >= 0x61 && code <= 0x7a
const isUpper = (code: number): boolean => code >= 0x41 && code <= 0x5a

function costOfAscii(code: number, before: number): number {
  if (isLower(code)) return isDigit(before) ? FIRST_AFTER_DIGIT : LOWER
  if (isDigit(code)) return isLower(before) || isUpper(before) ? FIRST_DIGIT : DIGIT
  if (isUpper(code)) return UPPER
  return code === 0x20 ? LOWER : MARK
}

const costOfOther = (code: number): number => SCRIPTS.find(([end]) => code < end)?.[1] ?? OTHER
