// The diagrams of the guides. `npm run docs` draws them to docs/images; tests/documents.test.ts fails when a picture differs.

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { drawBoxes, drawMessages } from './draw.ts'

export const DIAGRAMS: Readonly<Record<string, string>> = {
  nodes: drawBoxes({
    title:
      'Nodes of a stack: those with the role api behind a load balancer, workers and a scheduler, all on one PostgreSQL and one S3',
    columns: 5,
    rows: 4,
    frames: [{ text: 'nodes without state', from: [0, 2], to: [4, 2] }],
    boxes: [
      { id: 'clients', text: ['Clients, console'], at: [1, 0] },
      { id: 'balancer', text: ['Load balancer', 'asks /ready'], at: [1, 1] },
      { id: 'api1', text: ['node: api'], at: [0, 2] },
      { id: 'api2', text: ['node: api'], at: [1, 2] },
      { id: 'worker1', text: ['node: worker'], at: [2, 2] },
      { id: 'worker2', text: ['node: worker'], at: [3, 2] },
      { id: 'scheduler', text: ['node: scheduler'], at: [4, 2] },
      { id: 's3', text: ['S3', 'files, tables'], at: [1, 3], kind: 'store' },
      { id: 'postgres', text: ['PostgreSQL', 'metadata, queue'], at: [3, 3], kind: 'store' },
    ],
    arrows: [
      { from: 'clients', to: 'balancer' },
      { from: 'balancer', to: 'api1' },
      { from: 'balancer', to: 'api2' },
      ...['api1', 'api2', 'worker1', 'worker2'].map((from) => ({ from, to: 's3' })),
      ...['api1', 'api2', 'worker1', 'worker2', 'scheduler'].map((from) => ({ from, to: 'postgres' })),
    ],
  }),
  'job-states': drawBoxes({
    title: 'States of a job, from created to its end',
    columns: 5,
    rows: 4,
    boxes: [
      { id: 'created', text: ['created'], at: [0, 1] },
      { id: 'waiting', text: ['waiting'], at: [0, 2.5] },
      { id: 'processing', text: ['processing'], at: [2, 1.5] },
      { id: 'cancelled', text: ['cancelled'], at: [1.6, 3], kind: 'end' },
      { id: 'terminating', text: ['terminating'], at: [3, 3] },
      { id: 'success', text: ['success'], at: [4, 0], kind: 'end' },
      { id: 'warning', text: ['warning'], at: [4, 1], kind: 'end' },
      { id: 'error', text: ['error'], at: [4, 2], kind: 'end' },
      { id: 'terminated', text: ['terminated'], at: [4, 3], kind: 'end' },
    ],
    arrows: [
      { from: 'created', to: 'waiting', text: 'configuration or project busy' },
      { from: 'created', to: 'processing', text: 'claimed by a worker', bend: -14 },
      { from: 'waiting', to: 'processing', text: 'claimed', bend: 22 },
      { from: 'processing', to: 'created', text: 'lost before a program started', bend: 46, isDashed: true },
      { from: 'processing', to: 'waiting', text: 'lost, may be repeated', bend: 26, isDashed: true },
      { from: 'created', to: 'cancelled', bend: 0 },
      { from: 'waiting', to: 'cancelled', text: 'terminate' },
      { from: 'processing', to: 'success' },
      { from: 'processing', to: 'warning' },
      { from: 'processing', to: 'error' },
      { from: 'processing', to: 'terminating', text: 'terminate' },
      { from: 'terminating', to: 'terminated' },
    ],
  }),
  flow: drawBoxes({
    title: 'A flow of three phases that ends early when no rows arrived',
    columns: 3.8,
    rows: 2,
    frames: [
      { text: 'Extract', from: [0, 0], to: [0, 0] },
      { text: 'Transform', from: [1.4, 0], to: [1.4, 0] },
      { text: 'Export', from: [2.8, 0], to: [2.8, 0] },
    ],
    boxes: [
      { id: 'orders', text: ['Orders', 'HTTP extractor'], at: [0, 0] },
      { id: 'totals', text: ['Totals', 'SQL'], at: [1.4, 0] },
      { id: 'file', text: ['Table to file'], at: [2.8, 0] },
      { id: 'end', text: ['end'], at: [0, 1], kind: 'end' },
    ],
    arrows: [
      { from: 'orders', to: 'totals', text: 'rows > 0' },
      { from: 'totals', to: 'file' },
      { from: 'orders', to: 'end', text: 'no rows' },
    ],
  }),
  security: drawBoxes({
    title: 'What can reach what: components reach the internet by rules, and neither the metadata nor the root key',
    columns: 4,
    rows: 3,
    boxes: [
      { id: 'users', text: ['Users and scripts'], at: [0, 0] },
      { id: 'stack', text: ['Stack'], at: [1.5, 0] },
      { id: 'components', text: ['Components,', 'user code'], at: [3, 0] },
      { id: 'internet', text: ['Internet'], at: [3, 1] },
      { id: 'metadata', text: ['Metadata'], at: [1.5, 1], kind: 'store' },
      { id: 'key', text: ['Root key'], at: [1.5, 2], kind: 'store' },
      { id: 'operator', text: ['Operator', 'of the machine'], at: [0, 1.5] },
    ],
    arrows: [
      { from: 'users', to: 'stack', text: 'token or session' },
      { from: 'stack', to: 'components', text: 'runs' },
      { from: 'stack', to: 'metadata', text: 'project id in every query' },
      { from: 'components', to: 'internet', text: 'egress rules' },
      { from: 'components', to: 'metadata', text: 'no access', isDashed: true },
      { from: 'components', to: 'key', text: 'no access', isDashed: true, bend: -20 },
      { from: 'operator', to: 'stack' },
      { from: 'operator', to: 'metadata' },
      { from: 'operator', to: 'key' },
    ],
  }),
  load: drawMessages({
    title: 'The path of a load, from the upload of a file to the new state of a table',
    columns: ['Client', 'API', 'Metadata', 'Worker', 'Object store'],
    messages: [
      { from: 0, to: 4, text: 'upload the file' },
      { from: 0, to: 1, text: 'import-async' },
      { from: 1, to: 2, text: 'storage job (waiting)' },
      { from: 1, to: 0, text: 'URL of the job', isAnswer: true },
      { from: 3, to: 2, text: 'claim job and table' },
      { from: 3, to: 4, text: 'read, write Parquet' },
      { from: 3, to: 2, text: 'new state, event, success' },
      { from: 0, to: 1, text: 'poll the job' },
      { from: 1, to: 0, text: 'success', isAnswer: true },
    ],
  }),
}

export const pathOfDiagram = (name: string): string => fileURLToPath(new URL(`../../docs/images/${name}.svg`, import.meta.url))

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [name, svg] of Object.entries(DIAGRAMS)) writeFileSync(pathOfDiagram(name), svg)
