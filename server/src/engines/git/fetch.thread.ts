// The body of the thread in which git-checkout.ts fetches.

import { parentPort, workerData } from 'node:worker_threads'
import { type FetchOrder, fetchRepository } from './fetch-repository.ts'

parentPort?.postMessage(await fetchRepository(workerData as FetchOrder))
