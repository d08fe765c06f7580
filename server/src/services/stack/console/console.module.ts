import { fileURLToPath } from 'node:url'
import { readStaticFiles } from '../../../engines/static-files/static-files.ts'
import { defineModule } from '../../../model/module.ts'
import type { ObjectsModule } from '../../storage/s3/s3.module.ts'
import { consoleRoutes } from './console.routes.ts'

/** Where the build of the console is. */
const FOLDER = fileURLToPath(new URL('../../../../../console/dist', import.meta.url))

export const createConsoleModule = async ({ objects }: { readonly objects: ObjectsModule }) =>
  defineModule({ name: 'console', routes: [consoleRoutes({ files: await readStaticFiles(FOLDER), s3Url: objects.url })] })
