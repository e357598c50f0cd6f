import { formatDuration } from '../../components/format.ts'
import { Time } from '../../components/time.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { routeHash } from '../../routing/route.ts'
import type { StoredResponse } from './stored-response.ts'
import { StatusBadge } from './stored-table.tsx'
import { TokenFacts } from './token-facts.tsx'

/** The facts of a response, with a link to the one that it continues. */
export function ResponseFacts({ response }: { readonly response: StoredResponse }) {
  const { model, provider, status, created_at, completed_at, usage, incomplete_details } = response
  return (
    <TokenFacts
      facts={[
        ['Model', <bdi>{visibleText(model)}</bdi>],
        ['Provider', <bdi>{visibleText(provider ?? '–')}</bdi>],
        [
          'Status',
          <>
            <StatusBadge status={status} /> {incomplete_details && <bdi>{incomplete_details.reason}</bdi>}
          </>,
        ],
        ['Created', <Time at={created_at} />],
        ['Duration', completed_at === null ? '–' : durationText(completed_at - created_at)],
        ['Continues', <PreviousLink id={response.previous_response_id} />],
      ]}
      usage={usage && toTokens(usage)}
    />
  )
}

/** The API has whole seconds. */
function durationText(seconds: number): string {
  return seconds < 1 ? 'Less than 1 s' : formatDuration(seconds * 1000)
}

function PreviousLink({ id }: { readonly id: string | null }) {
  if (id === null) return <>–</>
  return <a href={routeHash('stored', ['responses', id])}>the previous response</a>
}

function toTokens(usage: NonNullable<StoredResponse['usage']>) {
  return {
    input: usage.input_tokens,
    cached: usage.input_tokens_details.cached_tokens,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details.reasoning_tokens,
  }
}
