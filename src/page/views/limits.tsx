import { parseUsd } from '../../lib/usd.ts'
import type { OwnOrganization } from '../api/objects.ts'
import { useGet } from '../api/resource.ts'
import { Bar } from '../components/bar.tsx'
import { BudgetFigures } from '../components/budget-bar.tsx'
import { Button, CodeBlock } from '../components/button.tsx'
import { Badge, Figure, Foreign, Money } from '../components/facts.tsx'
import { formatCount, formatDuration, visibleText } from '../components/format.ts'
import { Loaded, ViewHeader } from '../components/view.tsx'
import { routeHash } from '../route.ts'
import { useApi } from '../session.tsx'
import { useShortcut } from '../shortcuts.tsx'

/** The limits view: what the organization may still use. */
export function Limits() {
  const organization = useGet<OwnOrganization>(useApi(), '/v1/organization')
  const { reload, loading } = organization
  useShortcut('r', 'Refresh the limits', reload)
  return (
    <>
      <ViewHeader title="Limits and balance">
        <Button label="Refresh" icon="retry" shortcut="r" disabled={loading} onClick={reload} />
      </ViewHeader>
      <Loaded resource={organization} lines={9}>
        {(value) => (
          <div class="account">
            <Account organization={value} />
            <Budgets budgets={value.budgets} />
            <RateLimits organization={value} />
          </div>
        )}
      </Loaded>
    </>
  )
}

function Account({ organization }: { readonly organization: OwnOrganization }) {
  const { name, id, billing, api_key_id, project, models } = organization
  return (
    <section aria-labelledby="account-balance">
      <h2 id="account-balance">
        <bdi>{name}</bdi> <Badge tone={billing === 'none' ? 'bad' : 'neutral'}>{billing}</Badge>
      </h2>
      <p class="quiet">{billingSentences[billing]}</p>
      <dl class="figures">
        <Amount label="Available" usd={organization.available_usd} />
        <Amount label="Balance" usd={organization.balance_usd} />
        <Amount label="Reserved" usd={organization.reserved_usd} />
      </dl>
      <BalanceNotice organization={organization} />
      <p class="quiet">
        Organization <code>{id}</code>
        {project !== null && (
          <>
            , project <Foreign text={project.name} />
          </>
        )}
        , with the API key <code>{api_key_id}</code>
        {models !== null && (
          <>
            {' '}
            for <a href={routeHash('models')}>{countOf(models.length)}</a>
          </>
        )}
        . <a href={routeHash('usage')}>See the usage</a>
      </p>
    </section>
  )
}

function countOf(models: number): string {
  return `${formatCount(models)} ${models === 1 ? 'model' : 'models'}`
}

const billingSentences: Readonly<Record<OwnOrganization['billing'], string>> = {
  unmetered: 'Requests are recorded with their cost, and nothing is charged to the balance.',
  prepaid: 'Requests are paid from the balance.',
  none: 'Requests to models are rejected.',
}

function Amount({ label, usd }: { readonly label: string; readonly usd: string }) {
  return (
    <Figure label={label}>
      <Money usd={usd} />
    </Figure>
  )
}

/** Says what to do where requests to models are, or will soon be, rejected with 402. */
function BalanceNotice({ organization }: { readonly organization: OwnOrganization }) {
  const { billing, name } = organization
  const available = parseUsd(organization.available_usd) ?? 0n
  if (billing === 'none')
    return (
      <Notice
        text="Requests to models get 402 until the operator configures billing:"
        command={`weir orgs set ${JSON.stringify(name)} --billing prepaid`}
      />
    )
  if (billing === 'unmetered' || available > 0n) return null
  return (
    <Notice
      text="Nothing is available: requests to models get 402 until the operator adds credit:"
      command={`weir orgs credit ${JSON.stringify(name)} 10`}
    />
  )
}

function Notice({ text, command }: { readonly text: string; readonly command: string }) {
  return (
    <div class="notice bad stack">
      <p>{text}</p>
      <CodeBlock code={command} label="command" />
    </div>
  )
}

function Budgets({ budgets }: { readonly budgets: OwnOrganization['budgets'] }) {
  if (budgets.length === 0) return null
  return (
    <section aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      <p class="quiet">Each of them limits the requests of this key.</p>
      {budgets.map((budget) => (
        <BudgetFigures
          key={budget.id}
          label={`Budget of the ${budget.owner} ${visibleText(budget.name)}`}
          budget={budget}
          period={budget.period}
        />
      ))}
    </section>
  )
}

function RateLimits({ organization }: { readonly organization: OwnOrganization }) {
  const { limits, remaining, reset_ms: resetMs } = organization
  return (
    <section aria-labelledby="rate-limits">
      <h2 id="rate-limits">Rate limits</h2>
      <p class="quiet">
        Those of the organization, the project and the key all apply; the tightest one is shown. They refill
        continuously.
      </p>
      <Meter
        label="Requests per minute"
        remaining={remaining.requests}
        limit={limits.requests_per_minute}
        resetMs={resetMs.requests}
      />
      <Meter
        label="Tokens per minute"
        remaining={remaining.tokens}
        limit={limits.tokens_per_minute}
        resetMs={resetMs.tokens}
      />
      <p>
        <strong class="number">{formatCount(limits.concurrent_requests)}</strong> requests at once
      </p>
    </section>
  )
}

/** Below this share of a limit, the bar warns. */
const lowShare = 0.1

/** How much of a limit remains, as a bar and in numbers. */
function Meter(props: {
  readonly label: string
  readonly remaining: number
  readonly limit: number
  readonly resetMs: number
}) {
  const { label, limit, resetMs } = props
  const remaining = Math.max(0, Math.min(limit, props.remaining))
  const share = limit === 0 ? 0 : remaining / limit
  return (
    <div class="meter">
      <div class="meter-labels">
        <span>{label}</span>
        <span class="number">
          <strong>{formatCount(remaining)}</strong> of {formatCount(limit)}
        </span>
      </div>
      <Bar
        label={label}
        value={remaining}
        max={limit}
        text={`${formatCount(remaining)} of ${formatCount(limit)} available`}
        parts={[{ kind: share < lowShare ? 'low' : 'remaining', share }]}
      />
      <p class="hint">{resetMs === 0 ? 'All available' : `All available in ${formatDuration(resetMs)}`}</p>
    </div>
  )
}
