import { type Static, type TProperties, Type } from 'typebox'
import { count, objectType } from '../../http/schema.ts'
import { type ExactNumber, exactNumber } from '../../lib/json/json.ts'
import { nextTurn } from '../../lib/time.ts'
import { formatUsd, type Nanos } from '../../lib/usd.ts'
import { bucketWidths, type UsageBucketGroup } from '../../storage/ports/usage.ts'
import { pageToken, type ReportPage } from './query.ts'

const orNull = (description: string) =>
  Type.Union([Type.String(), Type.Null()], {
    description: `${description} Null unless the results are grouped by it, and for requests without one.`,
  })
const always = (description: string) => Type.Null({ description: `${description} Always null.` })

/** The values that a result is grouped by. */
const groupFields = {
  organization_id: orNull('The ID of the organization.'),
  project_id: orNull('The ID of the project of the API key at the time of the requests.'),
  project_name: orNull('The name of the project.'),
  user_id: orNull('The user of the requests, as the client names it.'),
  session_id: orNull('The session of the requests, as the client names it.'),
  api_key_id: orNull('The ID of the API key.'),
  api_key_name: orNull('The name of the API key.'),
  model: orNull('The slug of the model.'),
  provider: orNull('The name of the provider.'),
  api: orNull('The API of the requests, such as `chat` or `responses`.'),
  tag: orNull('One of the `tags` of the requests.'),
  error: orNull(
    'The error code of the requests that failed, or the type of the error for those without one.',
  ),
}

const timing = (description: string) =>
  Type.Union(
    [
      Type.Object({
        p50: Type.Integer({ description: 'The median.' }),
        p95: Type.Integer({ description: 'The 95th percentile.' }),
      }),
      Type.Null(),
    ],
    { description: `${description} In milliseconds, rounded down to two digits; null if there are none.` },
  )

type UsageResult = Static<typeof UsageResult>
/** The usage of a group of requests in one bucket. */
const UsageResult = Type.Object(
  {
    object: objectType('organization.usage.completions.result'),
    input_tokens: count('The input tokens, including cached ones.'),
    output_tokens: count('The output tokens, including those of reasoning.'),
    input_cached_tokens: count('The input tokens that a provider read from its cache.'),
    input_cache_write_tokens: count('The input tokens that a provider wrote to its cache.'),
    input_audio_tokens: count('Always 0.'),
    output_audio_tokens: count('Always 0.'),
    output_reasoning_tokens: count('The output tokens that were used for reasoning.'),
    num_model_requests: count('The requests, including those that failed.'),
    num_failed_requests: count('The requests that ended with an error, also in the middle of a stream.'),
    num_client_errors: count('The requests with a status from 400 to 498.'),
    num_server_errors: count('The requests with a status of 500 or more.'),
    latency_ms: timing('The latency of successful requests.'),
    first_token_ms: timing('The time to the first token of successful streams.'),
    batch: always('Weir has no batches.'),
    ...groupFields,
  },
  { title: 'UsageResult' },
)

/** The cost of a group of requests in one bucket. */
const CostsResult = Type.Object(
  {
    object: objectType('organization.costs.result'),
    amount: Type.Object(
      {
        value: Type.Union([Type.Unsafe<number | ExactNumber>({ type: 'number' }), Type.Null()], {
          description: 'The exact sum of the known costs; null if no cost is known.',
        }),
        currency: Type.Literal('usd', { description: 'The currency.' }),
      },
      { description: 'The cost.' },
    ),
    num_model_requests: count('The requests, including those that failed.'),
    num_unpriced_requests: count('The requests whose cost is unknown, because their model has no price.'),
    line_item: always('Costs are not divided into items.'),
    ...groupFields,
  },
  { title: 'CostsResult' },
)
type CostsResult = Static<typeof CostsResult>

/** The schema of a page of buckets. */
function pageOf<Result extends ReturnType<typeof Type.Object<TProperties>>>(result: Result, title: string) {
  const time = (description: string) => Type.Integer({ description: `${description} In Unix seconds.` })
  const bucket = Type.Object({
    object: objectType('bucket'),
    start_time: time('The start of the bucket.'),
    end_time: time('The end of the bucket, exclusive.'),
    results: Type.Array(result, {
      description: 'One result for each group; empty if there are no requests.',
    }),
  })
  return Type.Object(
    {
      object: objectType('page'),
      data: Type.Array(bucket, { description: 'The buckets, from the oldest.' }),
      has_more: Type.Boolean({ description: 'Whether another page follows.' }),
      next_page: Type.Union([Type.String(), Type.Null()], {
        description: 'The value of `page` for the next page; null if there is none.',
      }),
    },
    { title },
  )
}

export const UsagePage = pageOf(UsageResult, 'UsagePage')
export const CostsPage = pageOf(CostsResult, 'CostsPage')

/** The results that are rendered in one turn of the event loop: some 2 milliseconds. */
const turnResults = 500

/** Renders the JSON of a page of a report in parts: each bucket of the page, with the results of its groups. */
export async function renderPage<Result>(
  { query, next }: ReportPage,
  groups: readonly UsageBucketGroup[],
  renderResult: (group: UsageBucketGroup) => Result,
): Promise<readonly string[]> {
  const { width, from, to } = query
  const widthMs = bucketWidths[width]
  const byStart = Map.groupBy(groups, ({ start }) => start)
  const parts = ['{"object":"page","data":[']
  let inTurn = 0
  for (let start = from; start < to; start += widthMs) {
    const bucket = { object: 'bucket', start_time: start / 1000, end_time: (start + widthMs) / 1000 }
    parts.push(start > from ? ',' : '', openArray({ ...bucket, results: [] }))
    const results = byStart.get(start) ?? []
    for (let index = 0; index < results.length; index += turnResults) {
      const rendered = results.slice(index, index + turnResults).map(renderResult)
      parts.push(index > 0 ? ',' : '', JSON.stringify(rendered).slice(1, -1))
      inTurn += rendered.length
      if (inTurn >= turnResults) {
        await nextTurn()
        inTurn = 0
      }
    }
    parts.push(']}')
  }
  const last = { has_more: next !== undefined, next_page: next === undefined ? null : pageToken(next) }
  return [...parts, `],${JSON.stringify(last).slice(1)}`]
}

/** The JSON of an object whose last property is an empty array, up to the place of its elements. */
function openArray(object: object): string {
  return JSON.stringify(object).slice(0, -2)
}

/** Renders the usage of a group. */
export function renderUsage({ values, totals }: UsageBucketGroup, names: Names): UsageResult {
  return {
    object: 'organization.usage.completions.result',
    input_tokens: totals.promptTokens,
    output_tokens: totals.completionTokens,
    input_cached_tokens: totals.cachedTokens,
    input_cache_write_tokens: totals.cacheWriteTokens,
    input_audio_tokens: 0,
    output_audio_tokens: 0,
    output_reasoning_tokens: totals.reasoningTokens,
    num_model_requests: totals.requests,
    num_failed_requests: totals.failed,
    num_client_errors: totals.clientErrors,
    num_server_errors: totals.serverErrors,
    latency_ms: totals.latency,
    first_token_ms: totals.firstToken,
    batch: null,
    ...renderValues(values, names),
  }
}

/** Renders the cost of a group. */
export function renderCosts({ values, totals }: UsageBucketGroup, names: Names): CostsResult {
  return {
    object: 'organization.costs.result',
    amount: {
      value: totals.cost === null ? null : usdNumber(totals.cost),
      currency: 'usd',
    },
    num_model_requests: totals.requests,
    num_unpriced_requests: totals.unpriced,
    line_item: null,
    ...renderValues(values, names),
  }
}

/**
 * An amount as a number of USD that JSON has exactly. Up to 15 digits, that is what JavaScript writes for the nearest number,
 * and much faster; it would write the smallest ones with an exponent.
 */
function usdNumber(amount: Nanos): number | ExactNumber {
  const isWritten = amount >= smallestWritten && amount < 10n ** 15n
  return isWritten ? Number(amount) / 1e9 : exactNumber(formatUsd(amount))
}

const smallestWritten = 1000n

/** The names of the projects and the keys of a report, by their ids. */
export type Names = Readonly<Record<'project' | 'key', ReadonlyMap<string, string>>>

function renderValues(values: UsageBucketGroup['values'], names: Names) {
  return {
    organization_id: values.organization ?? null,
    project_id: values.project ?? null,
    project_name: names.project.get(values.project ?? '') ?? null,
    user_id: values.user ?? null,
    api_key_id: values.key ?? null,
    api_key_name: names.key.get(values.key ?? '') ?? null,
    model: values.model ?? null,
    provider: values.provider ?? null,
    api: values.api ?? null,
    session_id: values.session ?? null,
    tag: values.tag ?? null,
    error: values.error ?? null,
  }
}
