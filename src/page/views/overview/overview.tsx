import { formatUsd } from '../../../lib/usd.ts'
import { useRefreshed, useResource } from '../../api/resource.ts'
import { Badge, Figure, Money } from '../../components/facts.tsx'
import { formatCount } from '../../components/format.ts'
import { Table } from '../../components/table.tsx'
import { type Column, column, nameColumn } from '../../components/table-columns.tsx'
import { Loaded, Section, ViewHeader } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { useProviders } from '../provider-columns.tsx'
import { ProviderProblem } from '../provider-problem.tsx'
import { addressOf } from '../usage/period.ts'
import { loadAccounts, type NearEnd, nearEnds } from './near-end.ts'
import { errorRate, loadToday, type Today } from './today.ts'

const providersMs = 5000
const usageMs = 60_000

/** The first view of an operator: what was spent, what fails, and what ends soon. */
export function Overview() {
  const admin = useAdminApi()
  const today = useRefreshed((signal) => loadToday(admin, Date.now(), signal), [admin], usageMs)
  return (
    <>
      <ViewHeader title="Overview">
        <span class="quiet">Refreshed by itself</span>
      </ViewHeader>
      <div class="stack wide">
        <Loaded resource={today} lines={4}>
          {(value) => <TodayFigures {...value} />}
        </Loaded>
        <FailingProviders />
        <NearEnds />
      </div>
    </>
  )
}

function TodayFigures({ day, today, before }: Today) {
  const { requests, clientErrors, cost, unpriced } = today
  const period = addressOf({ first: day, last: day })
  const usage = routeHash('usage', [], { ...period, scope: 'all' })
  const rate = errorRate(today)
  const rateBefore = errorRate(before)
  const perDay = before.cost === null ? 'unknown' : `$${formatUsd(before.cost / 6n)}`
  return (
    <Section title="Today" note="since midnight UTC, beside the six days before">
      <dl class="figures">
        <Figure
          label="Spend"
          note={`${perDay} a day before${unpriced > 0 ? `, ${formatCount(unpriced)} unpriced` : ''}`}
        >
          <a href={usage}>{cost === null ? 'Unknown' : <Money usd={formatUsd(cost)} />}</a>
        </Figure>
        <Figure label="Requests" note={`${formatCount(Math.round(before.requests / 6))} a day before`}>
          <a href={usage}>{formatCount(requests)}</a>
        </Figure>
        <Figure
          label="Error rate"
          note={`${rateBefore.text === '–' ? 'none' : rateBefore.text} before${clientErrorsText(clientErrors)}`}
        >
          <a href={routeHash('requests', [], { ...period, status: '5xx' })}>{rate.text}</a>{' '}
          <Badge tone={rate.tone}>{rate.word}</Badge>
        </Figure>
      </dl>
    </Section>
  )
}

function clientErrorsText(clientErrors: number): string {
  if (clientErrors === 0) return ''
  return `; without ${formatCount(clientErrors)} ${clientErrors === 1 ? 'error' : 'errors'} of clients`
}

function FailingProviders() {
  const resource = useProviders(providersMs)
  return (
    <Section title={<a href={routeHash('providers')}>Providers</a>}>
      <Loaded resource={resource} lines={2}>
        {(providers) => {
          const failing = providers.filter(({ health }) => health === 'failing')
          const unused = providers.filter(({ health }) => health === 'unknown').length
          return failing.length === 0 ? (
            <p>
              <Badge tone="good">ok</Badge> None of {formatCount(providers.length)} is failing
              {unused > 0 && `; ${formatCount(unused)} not used yet`}.
            </p>
          ) : (
            failing.map((provider) => (
              <ProviderProblem key={provider.id} provider={provider} onTested={resource.reload} />
            ))
          )
        }}
      </Loaded>
    </Section>
  )
}

function NearEnds() {
  const admin = useAdminApi()
  const accounts = useResource((signal) => loadAccounts(admin, signal), [admin])
  return (
    <Section title="Near their end" note="budgets from 80 %, low balances, keys that expire within a week">
      <Loaded resource={accounts} lines={4}>
        {(value) => (
          <>
            <Table
              label="Near their end"
              columns={nearEndColumns}
              rows={nearEnds(value, Date.now())}
              rowKey={({ href, what }) => `${href} ${what}`}
              rowHref={({ href }) => href}
              empty={<p class="quiet">No budget, balance or key.</p>}
            />
            {value.hasMore && <p class="quiet">And more: of each kind, only the newest are listed.</p>}
          </>
        )}
      </Loaded>
    </Section>
  )
}

const nearEndColumns: readonly Column<NearEnd>[] = [
  nameColumn('name', 'Name', ({ name }) => name),
  column('kind', 'Kind', ({ kind }) => kind, { sortValue: ({ kind }) => kind }),
  column(
    'state',
    'State',
    ({ ended }) => (ended ? <Badge tone="bad">ended</Badge> : <Badge tone="warning">soon</Badge>),
    { sortValue: ({ ended }) => Number(ended) },
  ),
  column('what', 'Why', ({ what }) => what, { sortValue: ({ what }) => what }),
]
