import { type renderContent, renderRequest } from '../http/render-request.ts'
import { formatDuration } from '../lib/time.ts'
import { formatRoundedUsd } from '../lib/usd.ts'
import type { FinishedRequest } from '../storage/ports/requests.ts'
import { type DetailRow, detailText, rightColumn, table, timeText } from './output.ts'

/** Formats what happened to a request, and its attempts. */
export function requestText(request: FinishedRequest): string {
  const { createdAt, cost, provider, upstreamModel } = request
  const { message, provider_message, param, attempts, warnings } = renderRequest(request)
  const rows: readonly DetailRow[] = [
    ['ID', request.id],
    ['Time', timeText(createdAt)],
    ['Status', String(request.status)],
    ['Error', request.error ?? undefined],
    ['Message', textOrNone(message)],
    ['Provider message', textOrNone(provider_message)],
    ['Parameter', textOrNone(param)],
    ['Organization', request.organization],
    ['Project', request.project === null ? undefined : (request.projectName ?? request.project)],
    ['API key', request.keyName === null ? request.key : `${request.keyName} (${request.key})`],
    ['User', request.user ?? undefined],
    ['Session', request.session ?? undefined],
    ['Tags', request.tags ?? undefined],
    ['API', `${request.api}${request.stream ? ', streamed' : ''}`],
    ['Model', request.model ?? undefined],
    ['Route', provider === null ? undefined : `${provider}/${upstreamModel ?? '?'}`],
    ['Tokens', tokensText(request)],
    ['Cost', cost === null ? 'unknown' : `$${formatRoundedUsd(cost, 9)}`],
    ['Took', durationText(request.latencyMs)],
    ['First token', request.firstTokenMs === null ? undefined : durationText(request.firstTokenMs)],
    ...warnings.map((warning): DetailRow => ['Warning', warning]),
  ]
  return attempts.length === 0 ? detailText(rows) : `${detailText(rows)}\n\n${attemptTable(attempts)}`
}

/** Formats the content of a request as JSON, without what a terminal would obey. */
export function contentText({ kept, request, response, error }: ReturnType<typeof renderContent>): string {
  if (!kept) return 'No content of this request is kept.'
  return Object.entries({ REQUEST: request, RESPONSE: response, ERROR: error })
    .flatMap(([title, value]) => (value === null ? [] : [`${title}\n${JSON.stringify(value, null, 2)}`]))
    .join('\n\n')
    .replace(/(?!\n)\p{Cc}/gu, '\ufffd')
}

function attemptTable(attempts: ReturnType<typeof renderRequest>['attempts']): string {
  return table(attempts, [
    { title: 'ATTEMPT', value: ({ provider, model }) => `${provider}/${model ?? '?'}` },
    { title: 'OUTCOME', value: ({ outcome }) => outcome },
    rightColumn('TOOK', ({ ms }) => durationText(ms)),
    { title: 'MESSAGE', value: ({ message }) => message ?? '' },
    { title: 'PROVIDER MESSAGE', value: ({ provider_message }) => provider_message ?? '' },
  ])
}

function tokensText({
  promptTokens,
  cachedTokens,
  completionTokens,
  estimated,
  ...rest
}: FinishedRequest): string {
  const cached = cachedTokens > 0 ? ` (${cachedTokens} cached)` : ''
  const reasoning = rest.reasoningTokens > 0 ? ` (${rest.reasoningTokens} of reasoning)` : ''
  return `${promptTokens} input${cached}, ${completionTokens} output${reasoning}${estimated ? ', estimated' : ''}`
}

function textOrNone(text: string | null): string | undefined {
  return text ?? undefined
}

/** Formats milliseconds; those that are not known as a dash. */
export function durationText(milliseconds: number | null): string {
  return milliseconds === null ? '-' : formatDuration(milliseconds)
}
