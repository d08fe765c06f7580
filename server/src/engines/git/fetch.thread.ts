// The body of the thread in which git-checkout.ts fetches.

import { parentPort } from 'node:worker_threads'
import { type FetchOrder, fetchRepository } from './fetch-repository.ts'

parentPort?.on('message', async (order: FetchOrder) => parentPort?.postMessage(await fetchRepository(order)))
