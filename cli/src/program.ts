// The millrace command. Exit codes: 0 done, 1 the user can fix it, 2 our bug. Data on stdout, progress and errors on stderr.

import { createProgram } from './commands.ts'
import { report, watchOutput } from './exit.ts'

watchOutput()
try {
  await createProgram().parseAsync()
} catch (error) {
  process.exitCode = report(error)
}
