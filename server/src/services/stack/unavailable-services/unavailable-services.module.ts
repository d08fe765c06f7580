import type { ServiceId } from '../../../http/addresses.ts'
import { SERVICE_IDS } from '../../../http/addresses.ts'
import { defineModule } from '../../../model/module.ts'
import { unavailableServicesRoutes } from './unavailable-services.routes.ts'

/** Services that exist; requests to others are refused with a sentence. */
const BUILT: ReadonlySet<ServiceId> = new Set<ServiceId>([
  'billing',
  'data-science',
  'editor',
  'docker-runner',
  'encryption',
  'iceberg',
  'import',
  'mlflow',
  'notification',
  'oauth',
  'query',
  'queue',
  'sandboxes',
  'scheduler',
  'spark',
  'stream',
  'sync-actions',
  'syrup',
  'templates',
  'vault',
])

export const createUnavailableServicesModule = () =>
  defineModule({ name: 'unavailable-services', routes: [unavailableServicesRoutes(SERVICE_IDS, BUILT)] })
