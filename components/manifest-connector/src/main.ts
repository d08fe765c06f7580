#!/usr/bin/env node
// Starts the connector with Node's compile cache on: stripping the types of many files costs more than a small run, and needs to be done
// once. The cache has to be on before the first of them is loaded, hence the import that is not a static one.

import { enableCompileCache } from 'node:module'

enableCompileCache()
const program = new URL('./program.ts', import.meta.url)
await import(program.href)
