import { Type } from 'typebox'
import { defineQuery, readList } from '../../http/query.ts'
import { stringEnum } from '../../http/schema.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { isStorable, storableRule } from '../../lib/text.ts'
import {
  type BucketWidth,
  bucketWidths,
  type UsageBucketQuery,
  type UsageDimension,
  type UsageFilters,
} from '../../storage/ports/usage.ts'

/** The buckets of one page: the default, and the maximum. */
type BucketLimits = Readonly<Record<BucketWidth, { readonly default: number; readonly max: number }>>

/** A page of a report: its query, and the start of the next page if there is one. */
export type ReportPage = {
  readonly query: UsageBucketQuery & { readonly width: BucketWidth; readonly to: number }
  readonly next: number | undefined
  /** Whether only jobs of a batch are asked for, which the gateway does not have. */
  readonly batchOnly: boolean
}

/** The properties that results can be grouped by, as requests name them. */
const groupings = {
  model: 'model',
  project_id: 'project',
  api_key_id: 'key',
  user_id: 'user',
  user: 'user',
  session_id: 'session',
  tag: 'tag',
  provider: 'provider',
  api: 'api',
  organization_id: 'organization',
  organization: 'organization',
  error: 'error',
} as const satisfies Readonly<Record<string, UsageDimension>>

const lists = {
  'group_by[]': list(
    'The properties to group the results by: ' +
      '`model`, `project_id`, `api_key_id`, `user_id`, `session_id`, `tag`, `provider`, `api`, `organization_id` or ' +
      '`error`. A request with several tags counts in several results.',
  ),
  'models[]': list('Only requests to these models. The slugs of models, such as `openai/gpt-6-luna`.'),
  'project_ids[]': list('Only requests whose API key was in one of these projects. The IDs of projects.'),
  'user_ids[]': list('Only requests of these users, as the client names them.'),
  'session_ids[]': list('Only requests of these sessions.'),
  'tags[]': list('Only requests with one of these tags.'),
  'api_key_ids[]': list('Only requests with these API keys. The IDs of API keys.'),
  'organization_ids[]': list(
    'Only requests of these organizations. The IDs of organizations; others than that of the API key require an admin key.',
  ),
}

/** An array of strings; not empty, because a query cannot have an empty list. */
function list(description: string) {
  return Type.Array(Type.String(), { minItems: 1, description })
}

const Batch = stringEnum(['true', 'false'], {
  description: 'With `true`, only jobs of a batch, of which there are none. Otherwise all requests.',
})

/** The last second of the year 9999. */
const maxTime = 253_402_300_799

function time(description: string) {
  return Type.Optional(Type.Integer({ minimum: 0, maximum: maxTime, description }))
}

const PageToken = Type.String({
  description: 'The `next_page` of the previous page. The other parameters but `limit` must be the same.',
})

/** Creates the query parameters of a report with these limits. */
export function defineReportQuery(limits: BucketLimits) {
  const query = defineQuery({
    start_time: time(
      'The start of the report in Unix seconds, rounded down to a whole bucket. By default, the report has the last `limit` buckets.',
    ),
    end_time: time('The end of the report in Unix seconds, rounded up to a whole bucket. By default, now.'),
    bucket_width: Type.Optional(
      stringEnum(['1m', '1h', '1d'], {
        default: '1d',
        description: 'The length of a bucket: a minute, an hour or a day of UTC.',
      }),
    ),
    batch: Type.Optional(Batch),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: limitDescription(limits) })),
    page: Type.Optional(PageToken),
  })

  return {
    parameters: { ...query.parameters, ...lists },
    /** Reads the page that a request selects; `own` is the organization of its key. Throws 400. */
    read(request: Request, own: string | undefined): ReportPage {
      const { start_time, end_time, bucket_width: width = '1d', batch, limit, page } = query.read(request)
      const count = limitOf(limit, limits[width], width)
      const step = bucketWidths[width]
      const end = Math.ceil((end_time === undefined ? Date.now() : end_time * 1000) / step) * step
      const start =
        Math.floor((start_time === undefined ? end - count * step : start_time * 1000) / step) * step
      if (start >= end) throw invalid('end_time', 'must be later than start_time')
      const from = page === undefined ? start : startOfPage(page, { start, end, step })
      const to = Math.min(end, from + count * step)
      const filters = { ...readFilters(request), organizations: organizationsOf(request, own) }
      const groupBy = [...new Set(readList(request, 'group_by').map(dimensionOf))]
      return {
        query: { width, from, to, groupBy, ...filters },
        next: to < end ? to : undefined,
        batchOnly: batch === 'true',
      }
    },
  }
}

function readFilters(request: Request): UsageFilters {
  const read = (name: string) => {
    const values = readList(request, name)
    if (!values.every(isStorable)) throw invalid(name, `each value must ${storableRule}`)
    return presentList(values)
  }
  return {
    models: read('models'),
    projects: read('project_ids'),
    keys: read('api_key_ids'),
    users: read('user_ids'),
    sessions: read('session_ids'),
    tags: read('tags'),
  }
}

/** A key can read its own organization only. */
function organizationsOf(request: Request, own: string | undefined): readonly string[] | undefined {
  const requested = presentList(readList(request, 'organization_ids'))
  if (own === undefined) return requested && [...new Set(requested)]
  if (requested?.some((id) => id !== own))
    throw invalid('organization_ids', 'an API key can read the usage of its own organization only')
  return [own]
}

function presentList(values: readonly string[]): readonly string[] | undefined {
  return values.length > 0 ? values : undefined
}

function dimensionOf(name: string): UsageDimension {
  const dimension = Object.entries(groupings).find(([known]) => known === name)?.[1]
  if (dimension !== undefined) return dimension
  throw invalid('group_by', `must be one of ${Object.keys(groupings).join(', ')}`)
}

function limitOf(limit: number | undefined, bounds: BucketLimits[BucketWidth], width: BucketWidth): number {
  if (limit === undefined || limit <= bounds.max) return limit ?? bounds.default
  throw badRequest(
    `Invalid 'limit': must be at most ${bounds.max} for the bucket_width ${width}.`,
    'integer_above_max_value',
    'limit',
  )
}

/** The token of the page that starts at this time in milliseconds. */
export function pageToken(start: number): string {
  return `page_${(start / 1000).toString(36)}`
}

type PageBounds = { readonly start: number; readonly end: number; readonly step: number }

function startOfPage(token: string, { start, end, step }: PageBounds): number {
  const [, digits = ''] = /^page_([0-9a-z]{1,9})$/.exec(token) ?? []
  const from = Number.parseInt(digits, 36) * 1000
  if (from >= start && from < end && from % step === 0) return from
  throw invalid('page', 'must be the next_page of a page with the same parameters')
}

function invalid(name: string, problem: string): Error {
  return badRequest(`Invalid '${name}': ${problem}.`, 'invalid_value', name)
}

function limitDescription(limits: BucketLimits): string {
  const bounds = Object.entries(limits).map(
    ([width, bound]) => `${bound.default} and ${bound.max} for \`${width}\``,
  )
  return `The number of buckets of a page. The default and the maximum are ${bounds.join(', ')}.`
}
