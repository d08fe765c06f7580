// How any text becomes the name of a column (spec storage 2.5.3, spec platform 1.10).

/** Letters that do not come apart into a letter and a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'TH',
  ı: 'i',
  '€': 'EUR',
}

const SYSTEM_COLUMN = /^(oid|tableoid|xmin|cmin|xmax|cmax|ctid)(_?)$/i

/** Letters without their marks, and those that have no mark as the letters that stand for them: `Łódź` becomes `Lodz`. */
export const withoutMarks = (text: string): string =>
  text
    .replace(/[^\x20-\x7e]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')

/** Names databases use for themselves. */
export const isSystemColumn = (name: string): boolean => SYSTEM_COLUMN.exec(name)?.[2] === ''

/**
 * `Straße №1 (€)` becomes `Strasse__1__EUR`: letters lose their marks, the rest becomes `_`, which is trimmed at both ends, except
 * where a column `xmin_` of the database must stay distinct; `xmin` itself becomes `xmin_`. A name that was made this way stays as it is.
 */
export function columnNameFrom(text: string): string {
  if (SYSTEM_COLUMN.test(text)) return text.endsWith('_') ? text : `${text}_`
  const name = withoutMarks(text)
    .replace(/[^A-Za-z0-9_]/gu, '_')
    .replace(/^_+|_+$/g, '')
  return isSystemColumn(name) ? `${name}_` : name
}
