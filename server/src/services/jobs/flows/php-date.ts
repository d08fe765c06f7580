// Dates in the letters of PHP's date(), which the function DATE of flows takes (spec platform 2.11). The zone is UTC.

import { PHP_DATE_LETTERS } from '../../../../../contract/php-date.ts'

/** A backslash keeps the letter after it; what is not a letter of the format stays as it is. */
export const formatPhpDate = (format: string, date: Date): string =>
  format.replace(/\\(.)|./gsu, (letter, kept: string | undefined) => kept ?? PHP_DATE_LETTERS[letter]?.(date) ?? letter)
