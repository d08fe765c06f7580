// The body of the thread in which git-host.ts works.

import { parentPort } from 'node:worker_threads'
import { type HostOrder, handleOrder } from './hosted-repository.ts'

parentPort?.on('message', async (order: HostOrder) => parentPort?.postMessage(await handleOrder(order)))
