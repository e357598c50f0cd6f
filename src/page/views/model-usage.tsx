import { formatUsd } from '../../lib/usd.ts'
import { useResource } from '../api/resource.ts'
import { type DayUsage, loadWeek, resultsOf, sumCosts, sumUsage, type Week } from '../api/week.ts'
import { Figure, Money } from '../components/facts.tsx'
import { formatCount, formatShort } from '../components/format.ts'
import { Loaded, Section } from '../components/view.tsx'
import { routeHash } from '../route.ts'
import { useApi } from '../session.tsx'

/** What the organization of the key has used of a model in a week. */
export function ModelUsage({ slug }: { readonly slug: string }) {
  const api = useApi()
  const week = useResource((signal) => loadWeek(api, Date.now(), { models: [slug] }, signal), [api, slug])
  return (
    <Section title="Usage" note="of the organization of the key, in the last seven days of UTC">
      <Loaded resource={week} lines={3}>
        {(value) => <WeekFigures week={value} slug={slug} />}
      </Loaded>
    </Section>
  )
}

function WeekFigures({ week, slug }: { readonly week: Week; readonly slug: string }) {
  const usage = resultsOf(week.usage)
  const costs = resultsOf(week.costs)
  const cost = sumCosts(costs)
  const unpriced = costs.reduce((sum, { num_unpriced_requests: count }) => sum + count, 0)
  const requests = sumUsage(usage, 'num_model_requests')
  if (requests === 0)
    return (
      <p>
        <span class="quiet">No requests to this model.</span>{' '}
        <a href={routeHash('usage', [], { range: '30d' })}>See the usage of all models</a>
      </p>
    )
  return (
    <>
      <dl class="figures">
        <Figure label="Cost" note={unpriced > 0 ? `${formatCount(unpriced)} unpriced` : ''}>
          {cost === null ? 'Unknown' : <Money usd={formatUsd(cost)} />}
        </Figure>
        <Figure label="Requests" note={`${formatCount(sumUsage(usage, 'num_failed_requests'))} failed`}>
          {formatCount(requests)}
        </Figure>
        <TokenFigure label="Input tokens" usage={usage} field="input_tokens" />
        <TokenFigure label="Output tokens" usage={usage} field="output_tokens" />
      </dl>
      <p>
        <a href={routeHash('usage', [], { model: slug, range: '7d', by: 'api_key_id' })}>
          See it over time and by key
        </a>
      </p>
    </>
  )
}

function TokenFigure(props: {
  readonly label: string
  readonly usage: readonly DayUsage[]
  readonly field: 'input_tokens' | 'output_tokens'
}) {
  const tokens = sumUsage(props.usage, props.field)
  return (
    <Figure label={props.label}>
      <span title={formatCount(tokens)}>{formatShort(tokens)}</span>
    </Figure>
  )
}
