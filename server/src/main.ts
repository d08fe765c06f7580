// The program. Compiled code is kept between starts, which halves the time they take; hence the only import that is not at the top of a file.

import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/millrace', import.meta.url)))
await import('./start/serve.ts')
