import { join } from 'node:path'
import { nodeIdOf } from '../../../engines/data-dir/node-id.ts'
import { createJsonFolder } from '../../../engines/json-folder/json-folder.ts'
import { defined } from '../../../kit/defined.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { KeyRingModule } from '../../access/encryption/key-ring.module.ts'
import type { ObjectsModule } from '../../storage/s3/s3.module.ts'
import { createComponentsLoop } from './components.loop.ts'
import { createComponents, type UnknownComponents } from './components.ts'
import { queueComponent } from './runnable-component.ts'
import { createSharedComponentsStore } from './shared-components.store.ts'
import { createSharedComponents } from './shared-components.ts'
import { createWorkerComponents } from './worker-components.ts'

export interface ComponentsModuleDeps {
  readonly core: Core
  readonly objects: ObjectsModule
  readonly keyRing: KeyRingModule
  readonly unknownComponents: UnknownComponents | undefined
  /** The name of this node as a worker; undefined when it is none. */
  readonly worker: string | undefined
}

export type ComponentsModule = Awaited<ReturnType<typeof createComponentsModule>>

export async function createComponentsModule({ core, objects, keyRing, unknownComponents, worker }: ComponentsModuleDeps) {
  const { db, inTransaction, clock, log, dataDir, metadata } = core
  const folder = join(dataDir, 'components')
  const components = createComponents({ folder: createJsonFolder(folder), log, ...defined({ unknown: unknownComponents }) })
  const workers = createWorkerComponents({ inTransaction, components, worker })
  const shared = createSharedComponents({
    store: createSharedComponentsStore(db),
    objects: objects.store,
    inTransaction,
    clock,
    components,
    cipher: {
      seal: (text) => keyRing.seal(text, 'components'),
      open: (cipher) => keyRing.open(cipher, 'components'),
    },
    node: nodeIdOf(dataDir),
    folder,
    cache: join(dataDir, 'cache', 'components'),
    isAlone: metadata.dialect === 'sqlite',
    log,
  })
  const loop = createComponentsLoop({
    components,
    afterLook: async () => {
      await workers.publish()
      await shared.exchange()
    },
    log,
  })
  await loop.tick()
  return defineModule({
    name: 'components',
    background: [{ start: loop.start, stop: loop.stop }],
    ...components,
    loop,
    exists: (id: string): boolean => components.find(id) !== undefined,
    /** As the queue sees a component. */
    forQueue: (id: string, flowFormatOf: Parameters<typeof queueComponent>[1]) =>
      queueComponent(components.find(id), flowFormatOf),
    /** The folder of a component that is a command, unpacked when another node has it. */
    folderOf: shared.folderOf,
    /** A worker that has the component. */
    findElsewhere: workers.findAlive,
  })
}

export type { UnknownComponents }
