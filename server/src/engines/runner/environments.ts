// Folders for the Python environments of programs that users name: one for each project, which no other project sees. They outlive runs.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

export type Environments = (project: string) => Promise<string>

export function createEnvironments(folder: string): Environments {
  return async (project) => {
    const path = join(folder, project.replace(/[^0-9A-Za-z-]/g, ''))
    await mkdir(path, { recursive: true, mode: 0o700 })
    return path
  }
}
