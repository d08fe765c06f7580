// The program of the HTTP extractor as the platform starts it: its bundle, or its sources where they are newer.

import { fileURLToPath } from 'node:url'
import { componentBundle } from '../../server/src/engines/runner/bundle.ts'

export const EXTRACTOR_SOURCE = fileURLToPath(new URL('../../components/http-extractor/src/main.ts', import.meta.url))
export const EXTRACTOR_PROGRAM = componentBundle('http-extractor') ?? EXTRACTOR_SOURCE
