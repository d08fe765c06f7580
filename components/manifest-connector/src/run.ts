#!/usr/bin/env node
// The component platform.ex-manifest: starts platform/program.ts with Node's compile cache on.

import { enableCompileCache } from 'node:module'

enableCompileCache()
const program = new URL('./platform/program.ts', import.meta.url)
await import(program.href)
