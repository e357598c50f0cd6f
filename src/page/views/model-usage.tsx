import { formatUsd } from '../../lib/usd.ts'
import { useResource } from '../api/resource.ts'
import { Figure, Money } from '../components/facts.tsx'
import { formatCount, formatShort } from '../components/format.ts'
import { Loaded, Section } from '../components/view.tsx'
import { routeHash } from '../route.ts'
import { useApi } from '../session.tsx'
import { type Figures, grandTotal, loadWeek } from './usage/report.ts'

/** What the organization of the key has used of a model in a week. */
export function ModelUsage({ slug }: { readonly slug: string }) {
  const api = useApi()
  const week = useResource((signal) => loadWeek(api, { models: [slug] }, Date.now(), signal), [api, slug])
  return (
    <Section title="Usage" note="of the organization of the key, in the last seven days of UTC">
      <Loaded resource={week} lines={3}>
        {(value) => <WeekFigures week={value} slug={slug} />}
      </Loaded>
    </Section>
  )
}

function WeekFigures({ week, slug }: { readonly week: Figures; readonly slug: string }) {
  const { requests, failed, cost, unpriced, inputTokens, outputTokens } = grandTotal(week)
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
        <Figure label="Requests" note={`${formatCount(failed)} failed`}>
          {formatCount(requests)}
        </Figure>
        <TokenFigure label="Input tokens" tokens={inputTokens} />
        <TokenFigure label="Output tokens" tokens={outputTokens} />
      </dl>
      <p>
        <a href={routeHash('usage', [], { model: slug, range: '7d', by: 'api_key_id' })}>
          See it over time and by key
        </a>
      </p>
    </>
  )
}

function TokenFigure({ label, tokens }: { readonly label: string; readonly tokens: number }) {
  return (
    <Figure label={label}>
      <span title={formatCount(tokens)}>{formatShort(tokens)}</span>
    </Figure>
  )
}
