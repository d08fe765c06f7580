// A restore test in a process of its own: it checks whole databases and opens a second stack, which would hold up the requests of this
// one. It receives one order and sends one result. When the stack stops meanwhile, it continues and removes its copy.

import { withBackupSource } from './backup-place.ts'
import type { DrillAnswer, ProgramOrder } from './backup-work.ts'
import { drill } from './drill.ts'

process.once('message', (order) => {
  void work(order as ProgramOrder).then((answer) => {
    // from backup-work.ts
    if (process.connected) process.send!(answer, () => process.exit(0))
    else process.exit(0)
  })
})

async function work({ folder, bucket, config }: ProgramOrder): Promise<DrillAnswer> {
  try {
    const order = { config, databaseUrl: undefined }
    const result = await withBackupSource(folder, bucket, (source) =>
      drill({ ...order, source }, { verified: () => {}, copied: () => {} }),
    )
    const { copy, damaged, reason, manifest } = result
    return { copy, damaged, reason, files: manifest.files.length }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
