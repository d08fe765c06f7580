// The millrace command, from the bundle or from its sources, as server/src/main.ts.

import { bundleOf } from '../../server/src/engines/runner/bundle.ts'

const bundle = bundleOf('cli')
await (bundle === undefined ? import('./program.ts') : import(bundle))
