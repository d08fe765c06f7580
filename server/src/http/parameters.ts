// Parameters that many routes take, each with the sentence the API document prints for it. `openapi.ts` refuses a route that takes
// a parameter without one, so what only a single route takes is described where that route is.

import { type TSchema, Type } from 'typebox'

export const BucketId = Type.String({ description: 'Id of the bucket.', examples: ['in.c-main'] })
export const TableId = Type.String({ description: 'Id of the table.', examples: ['in.c-main.orders'] })
export const ComponentId = Type.String({ description: 'Id of the component.', examples: ['keboola.ex-generic-v2'] })
export const ConfigurationId = Type.String({ description: 'Id of the configuration.', examples: ['my-shop'] })
export const RowId = Type.String({ description: 'Id of the row of the configuration.', examples: ['orders'] })
export const VersionId = Type.String({ description: 'Number of the version, starting with 1.', examples: ['3'] })
export const BranchId = Type.String({ description: 'Id of the branch, or `default`.', examples: ['default'] })
export const MetadataId = Type.String({ description: 'Id of the item, as the list of metadata shows it.', examples: ['17'] })

/** A number that the list of its kind shows, such as the id of a file or a job. */
export const numberedId = (what: string) => Type.String({ description: `Id of the ${what}.`, examples: ['1017'] })

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const optionalText = (description: string) => Type.Optional(Type.String({ description }))
export const optionalFlag = (description: string) => Type.Optional(Type.Boolean({ description }))

export const include = (...words: string[]) =>
  Type.Optional(
    Type.String({ maxLength: 500, description: `What to include in the response, separated by commas: ${words.join(', ')}.` }),
  )
export const Async = optionalFlag('True: respond immediately with 202 and a storage job. False: respond when it is done.')
export const Offset = Type.Optional(Type.Integer({ minimum: 0, description: 'Number of items to skip; 0 by default.' }))

const MAX_PAGE = 1000
/** A page of a list that is whole without them. */
export const OptionalPage = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, description: 'Maximum number of items; all by default.' })),
  offset: Offset,
}
/** An offset alone means a page, too. */
export const paged = <T extends { readonly limit?: number; readonly offset?: number }>(query: T): T =>
  query.offset === undefined || query.limit !== undefined ? query : { ...query, limit: MAX_PAGE }

export const MetadataList = Type.Optional(
  Type.Unknown({
    description: 'List of objects with `key` and `value`. Existing keys get the new value; others are kept.',
    examples: [[{ key: 'owner', value: 'finance' }]],
  }),
)
export const Provider = optionalText('Who sets the metadata, for example `user` or the id of a component.')

/** Members that a rule reads by itself, in every form clients send them: described, but not checked by the schema. */
export const readByRule = <T extends Readonly<Record<string, string>>>(
  sentences: T,
  examples: Readonly<Record<string, unknown>> = {},
) =>
  Type.Object(
    Object.fromEntries(
      Object.entries(sentences).map(([name, description]) => [
        name,
        Type.Optional(Type.Unknown({ description, ...(Object.hasOwn(examples, name) && { examples: [examples[name]] }) })),
      ]),
    ) as { [Name in keyof T]: ReturnType<typeof Type.Optional<ReturnType<typeof Type.Unknown>>> }, // one entry for each sentence
    { additionalProperties: true },
  )

/** The file of a form, which is read as a stream. */
export const FormFile = Type.Unsafe<TSchema>({ type: 'string', format: 'binary', description: 'Content of the file.' })
