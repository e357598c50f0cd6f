import { useResource } from '../../api/use-resource.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Figure } from '../../components/figure.tsx'
import { formatCount, formatDuration } from '../../components/format.ts'
import { Money } from '../../components/money.tsx'
import { Loaded } from '../../components/states.tsx'
import { ViewHeader } from '../../components/view-header.tsx'
import { useShortcut } from '../../keyboard/shortcuts.tsx'
import { routeHash } from '../../routing/route.ts'
import { useApi } from '../../session/session.tsx'
import type { View } from '../view.ts'
import { BalanceNotice } from './balance-notice.tsx'
import { Meter } from './meter.tsx'
import { billingSentences, type OwnOrganization } from './own-organization.ts'

function Limits() {
  const api = useApi()
  const organization = useResource(
    (signal) => api.get<OwnOrganization>('/v1/organization', { signal }),
    [api],
  )
  const { reload, loading } = organization
  useShortcut('r', 'Refresh the limits', reload)
  return (
    <>
      <ViewHeader title="Limits and balance">
        <Button label="Refresh" icon="retry" shortcut="r" disabled={loading} onClick={reload} />
      </ViewHeader>
      <Loaded resource={organization} lines={9}>
        {(value) => <Account organization={value} />}
      </Loaded>
    </>
  )
}

function Account({ organization }: { readonly organization: OwnOrganization }) {
  const { name, id, billing, api_key_id } = organization
  return (
    <div class="account">
      <section aria-labelledby="account-balance">
        <h2 id="account-balance">
          <bdi>{name}</bdi> <Badge tone={billing === 'none' ? 'bad' : 'neutral'}>{billing}</Badge>
        </h2>
        <p class="quiet">{billingSentences[billing]}</p>
        <Balance organization={organization} />
        <BalanceNotice organization={organization} />
        <p class="quiet">
          Organization <code>{id}</code>, with the API key <code>{api_key_id}</code>.{' '}
          <a href={routeHash('usage')}>See the usage</a>
        </p>
      </section>
      <RateLimits organization={organization} />
    </div>
  )
}

function Balance({ organization }: { readonly organization: OwnOrganization }) {
  const { available_usd, balance_usd, reserved_usd } = organization
  return (
    <dl class="figures">
      <Figure label="Available">
        <Money usd={available_usd} decimals={Number(available_usd) === 0 ? 2 : 4} />
      </Figure>
      <Figure label="Balance">
        <Money usd={balance_usd} decimals={Number(balance_usd) === 0 ? 2 : 4} />
      </Figure>
      <Figure label="Reserved">
        <Money usd={reserved_usd} decimals={Number(reserved_usd) === 0 ? 2 : 4} />
      </Figure>
    </dl>
  )
}

function RateLimits({ organization }: { readonly organization: OwnOrganization }) {
  const { limits, remaining, reset_ms: resetMs } = organization
  return (
    <section aria-labelledby="rate-limits">
      <h2 id="rate-limits">Rate limits</h2>
      <p class="quiet">All keys of the organization share them. They refill continuously.</p>
      <Meter
        label="Requests per minute"
        remaining={remaining.requests}
        limit={limits.requests_per_minute}
        note={resetNote(resetMs.requests)}
      />
      <Meter
        label="Tokens per minute"
        remaining={remaining.tokens}
        limit={limits.tokens_per_minute}
        note={resetNote(resetMs.tokens)}
      />
      <p>
        <strong class="number">{formatCount(limits.concurrent_requests)}</strong> requests at once
      </p>
    </section>
  )
}

function resetNote(milliseconds: number): string {
  return milliseconds === 0 ? 'All available' : `All available in ${formatDuration(milliseconds)}`
}

/** The limits view: what the organization may still use. */
export const limits: View = {
  id: 'limits',
  title: 'Limits',
  icon: 'limits',
  section: 'organization',
  needs: 'apiKey',
  shortcut: 'l',
  component: Limits,
}
