// `PageSizeReduction`: a page that the API rejects as too large is requested again with fewer records. The texts of failures name what
// the author of a manifest can change.

import type { Clock } from '../clock.ts'
import { type Deps, listOf } from '../component.ts'
import { usesAction } from '../errors/error-handler.ts'
import { ConnectorError, ValueError } from '../errors.ts'
import { asNumber, type Dict, isDict, isInt, isNumber, pyRepr, pyStr } from '../python/values.ts'
import { judgeStopCondition } from './stop-condition.ts'

export interface PageSizeReduction {
  readonly factor: number
  readonly minimum: number
  readonly maxAttempts: number
  readonly restores: boolean
  readonly seconds: number
  readonly retriesAtMinimum: number
  readonly failureMessage: string
}

/** Undefined when the retriever does not reduce pages. `name` is the stream's, for messages. */
export function planReduction(
  retriever: Dict,
  name: string,
  { warn, hasProperties }: { readonly warn?: Deps['warn']; readonly hasProperties: boolean },
): PageSizeReduction | undefined {
  const requester = isDict(retriever.requester) ? retriever.requester : {}
  const isUsed = usesAction(requester.error_handler, 'REDUCE_PAGE_SIZE')
  const definition = isDict(retriever.page_size_reduction) ? retriever.page_size_reduction : undefined
  const refuse = (why: string): never => {
    throw new ValueError(`page_size_reduction of the stream '${name}': ${why}`)
  }
  if (!definition) {
    if (isUsed)
      refuse('it is missing, but a response filter has the action REDUCE_PAGE_SIZE. Add page_size_reduction to the retriever.')
    return undefined
  }
  if (!isUsed)
    warn?.(
      `The stream '${name}' has page_size_reduction, but no response filter with the action REDUCE_PAGE_SIZE: no page is reduced.`,
    )
  const number = (field: string, otherwise: number, isGood: (value: number) => boolean, wanted: string): number => {
    const value = definition[field]
    if (value === undefined || value === null) return otherwise
    if (!isNumber(value) || !isGood(asNumber(value))) return refuse(`${field} must be ${wanted}, not ${pyRepr(value)}.`)
    return asNumber(value)
  }
  const isCount = (least: number) => (value: number) => Number.isInteger(value) && value >= least
  const policy = definition.reset_policy ?? 'NEVER'
  if (policy !== 'NEVER' && policy !== 'AFTER_SUCCESSFUL_PAGE')
    refuse(`reset_policy must be NEVER or AFTER_SUCCESSFUL_PAGE, not ${pyRepr(policy)}.`)
  const plan: PageSizeReduction = {
    factor: number('reduction_factor', 2, (value) => value > 1, 'a number above 1'),
    minimum: number('minimum_page_size', 1, isCount(1), 'an integer of at least 1'),
    maxAttempts: number('max_attempts', 5, isCount(1), 'an integer of at least 1'),
    seconds: number('backoff_seconds', 0.5, (value) => value >= 0, 'a number of at least 0'),
    retriesAtMinimum: number('retries_at_minimum_page_size', 0, isCount(0), 'an integer of at least 0'),
    restores: policy === 'AFTER_SUCCESSFUL_PAGE',
    failureMessage: typeof definition.failure_message === 'string' ? definition.failure_message.trim() : '',
  }
  if (hasProperties) refuse('it cannot be used with query properties: the records of earlier chunks would be read twice.')
  checkPaginator(retriever.paginator, plan, refuse, (text) => warn?.(`page_size_reduction of the stream '${name}': ${text}`))
  return plan
}

function checkPaginator(
  paginator: unknown,
  plan: PageSizeReduction,
  refuse: (why: string) => never,
  warn: (text: string) => void,
): void {
  if (!isDict(paginator) || paginator.type !== 'DefaultPaginator') refuse('it requires a DefaultPaginator.')
  if (!paginator.page_size_option)
    refuse('it requires page_size_option of the paginator, which sends the size of a page to the API.')
  if (isDict(paginator.page_token_option) && paginator.page_token_option.type === 'RequestPath')
    refuse('it does not support the page_token_option RequestPath, since the URL of the next page already has a page size.')
  const strategy = isDict(paginator.pagination_strategy) ? paginator.pagination_strategy : {}
  if (strategy.type !== 'CursorPagination' && strategy.type !== 'OffsetIncrement')
    refuse(
      `it does not support ${pyStr(strategy.type)}, where a smaller page moves all pages after it. Use OffsetIncrement or CursorPagination.`,
    )
  const { page_size: size } = strategy
  if (size === undefined || size === null) refuse('it requires page_size of the pagination strategy.')
  const known = isInt(size) ? Number(size) : typeof size === 'string' && /^\s*[+-]?\d+\s*$/.test(size) ? Number(size) : undefined
  if (known !== undefined && known <= plan.minimum)
    refuse(`page_size is ${known}, which is not above minimum_page_size (${plan.minimum}).`)
  if (strategy.type !== 'CursorPagination' || typeof strategy.stop_condition !== 'string' || strategy.stop_condition === '')
    return
  const { kind, reason } = judgeStopCondition(strategy.stop_condition, plan.minimum)
  const advice = 'Compare with the variable page_size, as in {{ last_page_size < page_size }}.'
  if (kind === 'truncates') refuse(`the stop_condition '${strategy.stop_condition}' is not supported: ${reason}. ${advice}`)
  if (kind === 'unknown')
    warn(
      `the stop_condition '${strategy.stop_condition}' could not be checked, because ${reason}. If it ends pages early, records are missing. ${advice}`,
    )
}

export interface PageSizeReducer {
  /** Instead of the configured size. */
  readonly size: number | undefined
  /** Waits; throws when no smaller page is left. */
  reduce(rejection: string): Promise<void>
  succeeded(): void
}

/** Of one reading of a slice, so that slices read at the same time do not share a size. */
export function createReducer(plan: PageSizeReduction, configured: unknown, name: string, clock: Clock): PageSizeReducer {
  let size: number | undefined
  let attempts = 0
  let retries = 0
  const failed = (why: string, rejection: string) =>
    new ConnectorError(
      [`The API rejects pages of the stream '${name}' ${why}.`, plan.failureMessage, rejection].filter(Boolean).join(' '),
    )

  async function retryAtMinimum(current: number, rejection: string): Promise<void> {
    if (retries < plan.retriesAtMinimum) {
      retries++
      await clock.wait(plan.seconds * retries, 'backoff')
      return
    }
    if (size === undefined && plan.minimum > 1)
      throw new ConnectorError(
        `The page size of the stream '${name}' (${current}) is not above its minimum_page_size (${plan.minimum}), so it cannot be reduced.`,
      )
    throw failed(`also with the smallest allowed size (${current} records)`, rejection)
  }

  return {
    get size() {
      return size
    },
    async reduce(rejection) {
      if (!isInt(configured))
        throw new ConnectorError(
          `The page size of the stream '${name}' is not an integer, so it cannot be reduced: ${pyRepr(configured)}.`,
        )
      const current = size ?? Number(configured)
      const smaller = Math.max(plan.minimum, Math.round((current - (current % plan.factor)) / plan.factor))
      if (smaller >= current) return retryAtMinimum(current, rejection)
      attempts++
      if (attempts > plan.maxAttempts) throw failed(`of every requested size, down to ${current} records`, rejection)
      size = smaller
      await clock.wait(plan.seconds * attempts, 'backoff')
    },
    succeeded() {
      attempts = 0
      retries = 0
      if (plan.restores) size = undefined
    },
  }
}

/** For requesters without pages or windows of their own. */
export function refuseSmallerRequests(definition: Dict, what: string): void {
  for (const action of ['REDUCE_PAGE_SIZE', 'SPLIT_REQUEST_WINDOW'] as const)
    if (listOf(definition.error_handler).some((handler) => usesAction(handler, action)))
      throw new ValueError(
        `The action ${action} is not supported in the ${what}: only the requester of a SimpleRetriever supports it.`,
      )
}
