// The server. A start loads the bundle that tools/setup.mjs makes of the sources, or the sources when one of them has changed since;
// compiled code is kept between starts. Both shorten a start, hence the only imports that are not at the top of a file.

import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { bundleOf } from './engines/runner/bundle.ts'

enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/millrace', import.meta.url)))
const bundle = bundleOf('serve')
await (bundle === undefined ? import('./start/serve.ts') : import(bundle))
