import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { createBackups } from './backups.ts'

export type BackupsModule = ReturnType<typeof createBackupsModule>

export const createBackupsModule = ({ db, clock }: Pick<Core, 'db' | 'clock'>) =>
  defineModule({ name: 'backups', ...createBackups({ db, clock }) })
