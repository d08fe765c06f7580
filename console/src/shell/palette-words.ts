// What a text in the palette matches. Pure.

/** First letter and space narrow the search to a kind. */
export const NARROWED = {
  t: ['table', 'column'],
  c: ['configuration', 'row', 'content'],
  j: ['job'],
  f: ['file'],
  s: ['schedule'],
  p: ['person'],
} as const

export interface Asked {
  readonly verb: 'run' | 'new' | 'pause' | 'resume' | undefined
  readonly kinds: (typeof NARROWED)[keyof typeof NARROWED] | undefined
  readonly text: string
}

/** `run shop`, `t orders`, `> theme`, or just a word. */
export function readAsked(query: string): Asked {
  const [, verb, object] = /^(run|new|pause|resume)(?:\s+(.*))?$/i.exec(query) ?? []
  if (verb !== undefined) return { verb: verb.toLowerCase() as Asked['verb'], kinds: undefined, text: (object ?? '').trim() }
  const [, letter, rest] = /^([tcjfsp])\s+(.+)$/i.exec(query) ?? []
  if (letter !== undefined)
    return { verb: undefined, kinds: NARROWED[letter.toLowerCase() as keyof typeof NARROWED], text: rest!.trim() }
  return { verb: undefined, kinds: undefined, text: query }
}

/** `job 2`, `j 2`, `#2`. */
export const jobNumberIn = (query: string): string | undefined => /^(?:job|j|#)\s*#?(\d{1,15})$/i.exec(query)?.[1]
