// millrace extension: DuckDB's own readers of databases, which are not part of the package.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Config, readConfig } from '../../../server/src/start/config.ts'
import { print } from '../json-output.ts'
import { refuseWithoutStack } from '../open-core.ts'
import { table, UserError } from '../output.ts'
import { addExtension, extensionNamed, listExtensions, removeExtension } from './duckdb-extensions.ts'

export function addExtensionCommands(program: Command): void {
  const extension = program.command('extension').description("DuckDB's own readers of databases, in the data folder of this node")

  extension
    .command('add <name>')
    .description('download an extension of DuckDB (postgres, mysql or sqlite), check its signature and install it')
    .option('--file <path>', 'install this file (.duckdb_extension or .duckdb_extension.gz) instead of downloading it')
    .action(async (name: string, { file }: { file?: string }, command: Command) => {
      const known = extensionNamed(name)
      const { dataDir, extensionsUrl } = configOfStack()
      const added = await addExtension(dataDir, known, { file: file && resolve(file), repository: extensionsUrl })
      print(
        command,
        added,
        ({ version, platform, bytes, sha256 }) =>
          `Extension ${name} for DuckDB ${version} (${platform}) added: ${(bytes / 1e6).toFixed(1)} MB, sha256 ${sha256}`,
      )
    })

  extension
    .command('list')
    .description('list the extensions in the data folder, with their hashes')
    .action(async (_options: unknown, command: Command) => {
      print(command, await listExtensions(configOfStack().dataDir), (kept) =>
        table(
          ['name', 'duckdb', 'platform', 'state', 'sha256', 'from'],
          kept.map(({ name, version, platform, state, sha256, from }) => [
            name,
            version,
            platform,
            state,
            sha256,
            from ?? 'unknown',
          ]),
          'No extensions: databases are read by their drivers.',
        ),
      )
    })

  extension
    .command('remove <name>')
    .description('remove an extension from the data folder; tables are then read by the driver')
    .action(async (name: string, _options: unknown, command: Command) => {
      const removed = await removeExtension(configOfStack().dataDir, extensionNamed(name))
      if (removed === 0) throw new UserError(`The extension ${name} does not exist in the data folder.`)
      print(command, { removed }, () => `Extension ${name} removed`)
    })
}

/** Extensions belong to a stack: in another folder nothing is fetched, and no data folder appears. */
function configOfStack(): Config {
  const config = readConfig()
  refuseWithoutStack(config)
  return config
}
