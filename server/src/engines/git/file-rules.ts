/** Which files of a commit are written; others are left out. */
export interface FileRules {
  readonly names: RegExp
  readonly maxBytes: number
  readonly deepest: number
}

export const MAX_ANSWER_BYTES = 64 * 2 ** 20
/** Neither hidden, nor a way out of the folder. */
export const PLAIN_FILES: FileRules = { names: /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, maxBytes: 2 ** 20, deepest: 6 }
/** Whatever a program may consist of; the size of the answer is the limit. */
export const ALL_FILES: FileRules = {
  names: /^(?!\.{1,2}$)(?!\.git$)[^/\\\p{Cc}]{1,200}$/iu,
  maxBytes: MAX_ANSWER_BYTES,
  deepest: 30,
}
