// The command line prints its own lines: the log of the platform it opens stays silent unless MILLRACE_LOG_LEVEL asks for it.

import type { Config } from '../../server/src/config.ts'

export const quiet = (config: Config): Config =>
  process.env.MILLRACE_LOG_LEVEL ? config : { ...config, log: { level: 'silent' } }
