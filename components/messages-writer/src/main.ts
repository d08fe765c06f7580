#!/usr/bin/env node
// Starts the messages writer with Node's compile cache on, as the HTTP extractor does.

import { enableCompileCache } from 'node:module'

enableCompileCache()
const program = new URL('./program.ts', import.meta.url)
await import(program.href)
