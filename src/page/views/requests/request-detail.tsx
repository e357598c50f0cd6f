import type { FinishedRequest } from '../../api/objects.ts'
import { useGet } from '../../api/resource.ts'
import { IdLine } from '../../components/button.tsx'
import {
  Badge,
  Badges,
  Facts,
  Foreign,
  ForeignLink,
  type LabelledFact,
  Money,
  Time,
} from '../../components/facts.tsx'
import { countWithPart, formatDuration, visibleText } from '../../components/format.ts'
import { Table } from '../../components/table.tsx'
import { type Column, column } from '../../components/table-columns.tsx'
import { Loaded, Section, ViewHeader } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { costOf, hasFailed } from './request.ts'
import { RequestContent } from './request-content.tsx'

/** What happened to one request: its error, its attempts, its times, its tokens and its cost. */
export function RequestDetail({ id, back }: { readonly id: string; readonly back: string }) {
  const request = useGet<FinishedRequest>(useAdminApi(), `/admin/requests/${encodeURIComponent(id)}`)
  return (
    <>
      <ViewHeader title="Request" back={{ href: back, label: '← All requests' }} />
      <IdLine id={id} />
      <Loaded resource={request} lines={12}>
        {(loaded) => <RequestView request={loaded} />}
      </Loaded>
    </>
  )
}

/** The status of a request, and the code of its error. */
export function RequestStatus({ request }: { readonly request: FinishedRequest }) {
  const { status, error } = request
  return (
    <span class="finished">
      <Badge tone={hasFailed(request) ? 'bad' : 'neutral'}>{status}</Badge>{' '}
      {error !== null && <Foreign text={error} />}
    </span>
  )
}

function RequestView({ request }: { readonly request: FinishedRequest }) {
  const { attempts, warnings } = request
  return (
    <div class="stack">
      <ErrorSentence request={request} />
      <Facts facts={[...callerFacts(request), ...callFacts(request)]} />
      <Facts facts={figureFacts(request)} />
      <Section title="Attempts">
        <Table
          label="Calls to providers"
          columns={attemptColumns}
          rows={attempts}
          rowKey={(attempt) => String(attempts.indexOf(attempt))}
          empty={<p class="quiet">The request was not sent to a provider.</p>}
        />
      </Section>
      {warnings.length > 0 && <Warnings warnings={warnings} />}
      <RequestContent id={request.id} />
    </div>
  )
}

function ErrorSentence({ request }: { readonly request: FinishedRequest }) {
  const { message, provider_message, param } = request
  if (message === null) return null
  return (
    <div class="failure">
      <p class="failure-message">
        <Foreign text={message} />
      </p>
      {provider_message !== null && (
        <p>
          Message of the provider: <Foreign text={provider_message} />
        </p>
      )}
      {param !== null && (
        <p>
          Parameter <code>{visibleText(param)}</code>
        </p>
      )}
    </div>
  )
}

function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  return (
    <Section title="Warnings">
      <ul>
        {warnings.map((warning) => (
          <li key={warning}>
            <Foreign text={warning} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Leads to the other requests with the same value. */
function Same(props: { readonly name: string; readonly value: string; readonly text?: string | null }) {
  const { name, value, text } = props
  return <ForeignLink text={text ?? value} href={routeHash('requests', [], { [name]: value })} />
}

function callerFacts(request: FinishedRequest): readonly LabelledFact[] {
  const { created_at, organization, organization_id, key, key_name, user, session, tags } = request
  const { project, project_name } = request
  return [
    ['Status', <RequestStatus request={request} />],
    ['Time', <Time at={created_at} format="second" />],
    [
      'Organization',
      <ForeignLink text={organization} href={routeHash('organizations', [organization_id])} />,
    ],
    project !== null && ['Project', <Same name="project" value={project} text={project_name} />],
    ['API key', <ForeignLink text={key_name ?? key} href={routeHash('keys', [key])} />],
    user !== null && ['User', <Same name="user" value={user} />],
    session !== null && ['Session', <Same name="session" value={session} />],
    tags !== null && tags.length > 0 && ['Tags', <Badges texts={tags} />],
  ]
}

function callFacts({
  api,
  stream,
  model,
  provider,
  upstream_model,
}: FinishedRequest): readonly LabelledFact[] {
  return [
    ['API', `${api}${stream ? ', streamed' : ''}`],
    ['Model', model === null ? '–' : <Same name="model" value={model} />],
    ['Route', provider === null ? '–' : <Foreign text={`${provider}/${upstream_model ?? '?'}`} />],
  ]
}

function figureFacts(request: FinishedRequest): readonly LabelledFact[] {
  const { input_tokens, cached_tokens, output_tokens, reasoning_tokens, estimated } = request
  const { latency_ms, first_token_ms } = request
  const cost = costOf(request)
  return [
    ['Input tokens', countWithPart(input_tokens, cached_tokens, 'cached')],
    ['Output tokens', countWithPart(output_tokens, reasoning_tokens, 'of reasoning')],
    estimated && ['Tokens are', 'an estimate'],
    ['Cost', cost === null ? 'unknown' : <Money usd={cost} decimals={6} />],
    ['Took', durationText(latency_ms)],
    first_token_ms !== null && ['First token', durationText(first_token_ms)],
  ]
}

function durationText(milliseconds: number | null): string {
  return milliseconds === null ? '–' : formatDuration(milliseconds)
}

const attemptColumns: readonly Column<FinishedRequest['attempts'][number]>[] = [
  column('route', 'Route', ({ provider, model }) => <Foreign text={`${provider}/${model ?? '?'}`} />),
  column('outcome', 'Outcome', ({ outcome }) => (
    <Badge tone={outcome === 'ok' ? 'good' : 'bad'}>{visibleText(outcome)}</Badge>
  )),
  column('took', 'Took', ({ ms }) => durationText(ms), { align: 'right' }),
  column('message', 'Message', ({ message }) => <Sentence text={message} />),
  column('provider_message', 'Message of the provider', ({ provider_message: text }) => (
    <Sentence text={text} />
  )),
]

function Sentence({ text = '' }: { readonly text?: string | undefined }) {
  return (
    <span class="wraps">
      <Foreign text={text} />
    </span>
  )
}
