// One page for each error code and each cause of a failed job: what happened, why, and what to do. Written from the lists of the contract.

import { ERRORS, type ErrorKind } from '../../../../../contract/error-codes.ts'
import { CAUSES } from '../../../../../contract/failure-causes.ts'
import { statusOf } from '../../../http/errors-to-http.ts'
import { PlatformError } from '../../../kit/errors.ts'

/** Why it is refused, and what helps, for all errors of a kind. */
const KINDS: Readonly<Record<ErrorKind, readonly [why: string, repair: string]>> = {
  invalid: [
    'The request or the data in it is wrong. Nothing was changed.',
    'Correct the value that the message names and send the request again; repeating it unchanged fails again. `errors` of the body lists every field.',
  ],
  unauthenticated: [
    'The stack does not know who calls.',
    'Send a valid token in `X-StorageApi-Token` or `Authorization: Bearer`, or sign in again. A token may have expired or been revoked.',
  ],
  forbidden: [
    'The caller is known, but does not have the right. Nothing was changed.',
    'Use a token with the right that [rights](../rights.md) names for the operation, or ask an admin of the project. Repeating it fails again.',
  ],
  'not-found': [
    'The object does not exist, was deleted, or belongs to another project or branch.',
    'Check the id and the branch; lists of the same resource show what exists.',
  ],
  'not-allowed': ['The address exists, but not for this method.', 'Use one of the methods in the header `Allow`.'],
  conflict: [
    'The object is in a state that does not permit it, or another request was faster.',
    'Read the object again and decide by its state; then repeat the request if it still makes sense.',
  ],
  'too-large': ['The request is larger than is allowed here.', 'Send less, or in parts; large data is uploaded as a file.'],
  unprocessable: ['The request can be read, but not carried out.', 'Correct what the message names and send it again.'],
  'too-many': [
    'A limit on the number of requests or objects is reached.',
    'Wait for the seconds of `Retry-After`, or remove what is no longer needed.',
  ],
  bug: [
    'The stack failed. It is not the fault of the request.',
    'Repeat it once. If it fails again, give the `exceptionId` of the body to the operator: it finds the request in the log.',
  ],
  'not-built': ['The operation is not part of this stack.', 'The message names what to use instead.'],
  transient: [
    'The stack, or a part of it, cannot do it at the moment.',
    'Repeat the request after the seconds of `Retry-After`.',
  ],
  full: [
    'The stack has no space left.',
    'Delete what is no longer needed, or ask the operator for space; then repeat the request.',
  ],
}

/** Markdown; undefined for a code that does not exist. */
export function errorPage(code: string): string | undefined {
  if (Object.hasOwn(CAUSES, code)) {
    const { by, text, advice } = CAUSES[code as keyof typeof CAUSES] // compared above
    return pageOf(code, [
      ['What happened', `A job failed; the ${by} found out why. ${text}`],
      [
        'What to do',
        `${advice} The job itself says more: \`result.error.cause\` has the place, the request and what changed since the last good run.`,
      ],
    ])
  }
  if (!Object.hasOwn(ERRORS, code)) return undefined
  const known = code as keyof typeof ERRORS // compared above
  const { kind, text } = ERRORS[known]
  const [why, repair] = KINDS[kind]
  return pageOf(code, [
    [
      'What happened',
      `HTTP status ${statusOf(new PlatformError(known))}:\n\n> ${text.replaceAll('\n', '\n> ')}\n\nWords in braces are filled in by the message.`,
    ],
    ['Why', why],
    ['What to do', repair],
  ])
}

const pageOf = (code: string, parts: readonly (readonly [heading: string, text: string])[]): string =>
  [
    `# ${code}`,
    ...parts.flatMap(([heading, text]) => [`## ${heading}`, text]),
    '## More',
    '[All errors](../errors.md) and [troubleshooting](../troubleshooting.md).',
    '',
  ].join('\n\n')

/** Documents that the pages name. */
export const LINKED: ReadonlySet<string> = new Set(['docs/rights.md', 'docs/errors.md', 'docs/troubleshooting.md'])
