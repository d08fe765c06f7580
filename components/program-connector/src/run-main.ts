// The end of a program: 1 and the sentence if the user can fix it, 2 for anything else.

import type { createRedactor } from '../../http-extractor/src/redaction.ts'
import { ConnectorError, messageOf } from '../../manifest-connector/src/errors.ts'

export async function runMain(
  main: () => Promise<void>,
  redactor: Pick<ReturnType<typeof createRedactor>, 'redact'>,
): Promise<void> {
  try {
    await main()
  } catch (error) {
    const isUsers = error instanceof ConnectorError
    const text = isUsers ? error.message : `Unexpected error: ${messageOf(error)}`
    process.stderr.write(`${redactor.redact(text)}\n`)
    process.exitCode = isUsers ? 1 : 2
  }
}
