#!/usr/bin/env node
// Starts the connector: with a command it speaks the public protocol, without one it is the component platform.ex-manifest.
// Node's compile cache is on before the first of many files is loaded, hence the imports that are not static.

import { enableCompileCache } from 'node:module'

enableCompileCache()
const protocol = new URL('./protocol.ts', import.meta.url)
const component = new URL('./program.ts', import.meta.url)
await import(process.argv.length > 2 ? protocol.href : component.href)
