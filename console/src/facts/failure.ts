// Why a job failed, from its record.

export interface Cause {
  readonly kind: string
  readonly text: string
  readonly subject: string | null
  readonly where: { readonly pointer: string; readonly in: 'row' | 'configuration'; readonly rowId: string | null } | null
  readonly request: {
    readonly method?: string
    readonly url?: string
    readonly status?: number | null
    readonly excerpt?: string | null
  } | null
  readonly since: {
    readonly job: string
    readonly endTime: string
    readonly configVersion: string
    readonly isConfigurationChanged: boolean
    readonly rowsChanged: readonly string[]
  } | null
  readonly advice: string
  readonly help: string
}

export interface FailedResult {
  readonly message?: string
  readonly error?: { readonly type?: string; readonly exceptionId?: string; readonly cause?: Cause | null }
}

/** Kinds that name one thing in plain words; messages about them are full of addresses. The others stand for several things each. */
const PLAIN_KINDS = /^(http|network|login|pagination)\.|^run\.(?!component)/
/** More would not be read at a glance. */
const MAX_CHARACTERS = 140

/** Why it failed in one sentence: the first of its own message where that is short, otherwise what failures of its kind have in common. */
export function whyOf({ message = '', error }: FailedResult): string {
  const cause = error?.cause
  const own = firstSentence(message)
  if (!cause) return own
  const isPlain = PLAIN_KINDS.test(cause.kind) || own === '' || own.length > MAX_CHARACTERS || own.includes('://')
  return isPlain ? cause.text.replace(/ \([^)]*\)\.$/, '.') : own // the card has the status of "refused it (403)."
}

/** What stands before the reason: where a script stopped, which part found it out. The page shows both elsewhere. */
const BEFORE_THE_REASON = /^(The flow failed\.\s+|Block ".*?", code ".*?", statement \d+: |\w+ Error: |Error [\w ]+: )+/

function firstSentence(message: string): string {
  const [line = ''] = message.trim().replace(BEFORE_THE_REASON, '').split('\n', 1)
  const [sentence] = /^.*?[.!?](?=\s|$)/.exec(line) ?? [line]
  const words = sentence.trim().replace(/!$/, '.')
  return words === '' || /[.?]$/.test(words) ? words : `${words}.`
}

/** As the end of another sentence, after a colon: "The API ..." becomes "the API ...", "JSON ..." stays. */
export const insideSentence = (text: string): string =>
  /^[A-Z][a-z]* /.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
