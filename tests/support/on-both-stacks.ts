// Runs a suite over the wire on two stacks: one on SQLite, one on PostgreSQL. Each test gets a project of its own on the stack of its suite.

import { describe } from 'node:test'
import { migratedPostgres } from './fresh-databases.ts'
import { type ShellStack, shareShellStack } from './shell-stack.ts'

type Options = Parameters<typeof shareShellStack>[0]

export async function onBothStacks(
  name: string,
  suite: (startProject: () => Promise<ShellStack>) => void,
  options: Options = {},
): Promise<void> {
  describe(`${name} on SQLite`, () => suite(shareShellStack(options)))
  // Its server ends with this process; the database with its server.
  const { location } = await migratedPostgres()
  const { url } = location as { url: string } // of PostgreSQL
  describe(`${name} on PostgreSQL`, () => suite(shareShellStack({ ...options, databaseUrl: url, databaseConnections: 4 })))
}
