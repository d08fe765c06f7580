// Records as JSON text. Written by hand, because `configuration` and `state` are text already and must stay as they are.

import { formatTimestamp } from '../../../kit/clock.ts'
import type { ThreeSides } from './branch-copies.ts'
import type { WholeVersion } from './configuration-with-rows.ts'
import type { ConfigurationRecord, MetadataItem, RowRecord, RowVersionRecord, Stamp, VersionRecord } from './records/records.ts'

const json = JSON.stringify

const timestamp = (at: number): string => `"${formatTimestamp(new Date(at))}"`
const token = ({ tokenId, tokenDescription }: Stamp): string => `{"id":${tokenId},"description":${json(tokenDescription)}}`
const stamped = (stamp: Stamp): string => `"created":${timestamp(stamp.at)},"creatorToken":${token(stamp)}`

export const listOf = (texts: readonly string[]): string => `[${texts.join(',')}]`

/** What a list of components shows of a configuration (spec storage 2.8.2); the rest comes with `include`. */
export interface Include {
  readonly configuration: boolean
  readonly state: boolean
  /** The rows as a JSON list, or undefined to leave them out. */
  readonly rows: string | undefined
  /** The order of rows without the rows: a new configuration has none yet, and clients keep those they are about to create. */
  readonly isNew?: boolean
}

export function configurationText(record: ConfigurationRecord, include: Include): string {
  const { configurationId, name, description, version, changeDescription, isDisabled, isDeleted, changed } = record
  return (
    `{"id":${json(configurationId)},"name":${json(name)},"description":${json(description)},${stamped(record.created)},` +
    `"version":${version},"changeDescription":${json(changeDescription)},"isDisabled":${isDisabled},"isDeleted":${isDeleted},` +
    `${include.configuration ? `"configuration":${record.configuration},` : ''}` +
    `${include.rows === undefined ? '' : `"rowsSortOrder":${json(record.rowsSortOrder)},"rows":${include.rows},`}` +
    `${include.isNew ? `"rowsSortOrder":${json(record.rowsSortOrder)},` : ''}` +
    `${include.state ? `"state":${record.state},` : ''}` +
    `"currentVersion":{${stamped(changed)},"changeDescription":${json(changeDescription)},"versionIdentifier":${json(record.versionIdentifier)}}}`
  )
}

const WHOLE_ROW = { configuration: true, state: true }

export const rowText = (row: RowRecord, include: Pick<Include, 'configuration' | 'state'> = WHOLE_ROW): string =>
  `{"id":${json(row.id)},"name":${json(row.name)},"description":${json(row.description)},` +
  `${include.configuration ? `"configuration":${row.configuration},` : ''}` +
  `"isDisabled":${row.isDisabled},"version":${row.version},${stamped(row.created)},` +
  `"changeDescription":${json(row.changeDescription)},${include.state ? `"state":${row.state},` : ''}` +
  `"versionIdentifier":${json(row.versionIdentifier)}}`

const versionMembers = (version: VersionRecord): string =>
  `"version":${version.version},${stamped(version.created)},"changeDescription":${json(version.changeDescription)},` +
  `"isDeleted":${version.isDeleted},"name":${json(version.name)},` +
  `"isDisabled":${version.isDisabled},"versionIdentifier":${json(version.versionIdentifier)}`

/** An entry of the list. Clients compare the requested members: a request that names some gets a description only by naming it. */
export const versionText = (version: VersionRecord & { readonly configuration: string }, include: readonly string[]): string =>
  `{${versionMembers(version)}` +
  `${include.length === 0 || include.includes('description') ? `,"description":${json(version.description)}` : ''}` +
  `${include.includes('configuration') ? `,"configuration":${version.configuration}` : ''}}`

export const wholeVersionText = (version: WholeVersion): string =>
  `{${versionMembers(version)},"description":${json(version.description)},"configuration":${version.configuration},"rowsSortOrder":${json(version.rowsSortOrder)},` +
  `"rows":${listOf(version.rows.map((row) => rowVersionText(row, true)))}}`

export const threeSidesText = ({ base, ours, theirs }: ThreeSides): string =>
  `{"base":${base ? wholeVersionText(base) : null},"ours":${wholeVersionText(ours)},"theirs":${theirs ? wholeVersionText(theirs) : null}}`

export const rowVersionText = (row: RowVersionRecord, withConfiguration: boolean): string =>
  `{"id":${json(row.rowId)},"version":${row.version},"name":${json(row.name)},"description":${json(row.description)},` +
  `"isDisabled":${row.isDisabled},${stamped(row.created)},"changeDescription":${json(row.changeDescription)},` +
  `"versionIdentifier":${json(row.versionIdentifier)}${withConfiguration ? `,"configuration":${row.configuration}` : ''}}`

export const metadataView = (item: MetadataItem) => ({
  id: String(item.id),
  key: item.key,
  value: item.value,
  timestamp: formatTimestamp(new Date(item.changedAt)),
})
