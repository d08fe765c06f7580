// Texts of any characters for property tests. The unit 'binary' of fast-check means the same, but takes three seconds to be ready to shrink.

import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }
const character = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count))

/** All of Unicode, without lone surrogates. */
export const anyText = (maxLength: number): fc.Arbitrary<string> => fc.string({ unit: character, maxLength })
