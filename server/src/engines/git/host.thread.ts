// The body of the thread in which git-host.ts works.

import { parentPort, workerData } from 'node:worker_threads'
import { type HostOrder, handleOrder } from './hosted-repository.ts'

parentPort?.postMessage(await handleOrder(workerData as HostOrder))
