// Which trigger runs with a token, for tokens: the command line deletes tokens without opening triggers.

import type { Core } from '../../../model/core.ts'
import { createTriggersStore } from './triggers.store.ts'

export const createTriggerFinder = ({ db }: Pick<Core, 'db'>) => createTriggersStore(db).findOfToken
