import { Badge } from '../../components/badge.tsx'
import { Time } from '../../components/time.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import type { LastError, Provider, ProviderRoute } from './provider.ts'

const healths = {
  ok: ['good', 'ok'],
  failing: ['bad', 'failing'],
  unknown: ['neutral', 'no requests yet'],
} as const

/** Whether the last request to a provider succeeded. */
export function HealthBadge({ health }: { readonly health: Provider['health'] }) {
  const [tone, label] = healths[health]
  return <Badge tone={tone}>{label}</Badge>
}

const circuits = {
  closed: ['good', 'closed'],
  partly_open: ['warning', 'open for some'],
  open: ['bad', 'open'],
} as const

/** The circuit breaker of a route. */
export function CircuitBadge({ circuit }: { readonly circuit: ProviderRoute['circuit'] }) {
  const [tone, label] = circuits[circuit]
  return <Badge tone={tone}>{label}</Badge>
}

/** The last error: status, code and time. */
export function ErrorText({ error }: { readonly error: LastError | null }) {
  if (error === null) return <span class="quiet">none</span>
  return (
    <span title={`Request ${error.request}`}>
      {error.status} <bdi>{visibleText(error.code)}</bdi>{' '}
      <span class="quiet">
        <Time at={error.at} />
      </span>
    </span>
  )
}
