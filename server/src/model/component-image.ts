// A component that is an image: what the container engine fetches, and what its container may do.

import { basename } from 'node:path'
import type { ContainerSettings, ImageSource } from '../engines/runner/container-engine.ts'
import type { DataFolder } from '../engines/runner/data-folder.ts'
import type { RunnableComponent } from './run-ports.ts'

const KINDS = ['dockerhub', 'quayio', 'aws-ecr']

export const isImage = ({ definition }: RunnableComponent): boolean => KINDS.includes(definition.type)

export const imageName = ({ definition }: RunnableComponent, tag: string): string =>
  `${definition.type === 'quayio' ? 'quay.io/' : ''}${definition.uri}:${tag}`

export function imageSource({ definition }: RunnableComponent): ImageSource {
  const { username, server = '', '#password': password } = definition.repository ?? {}
  return { digest: definition.digest, login: username && password ? { username, password, server } : undefined }
}

/** Everything but the image and its limits. */
export const containerOf = (
  { id, features }: RunnableComponent,
  folder: DataFolder,
): Pick<ContainerSettings, 'name' | 'folder' | 'asRoot' | 'noSwap'> => ({
  name: `millrace-${basename(folder.root)}-${id.replace(/[^A-Za-z0-9]+/g, '-')}`,
  folder,
  asRoot: features.includes('container-root-user'),
  noSwap: features.includes('no-swap'),
})
