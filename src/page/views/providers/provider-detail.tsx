import { Facts } from '../../components/facts.tsx'
import { Figure } from '../../components/figure.tsx'
import { formatCount } from '../../components/format.ts'
import { Table } from '../../components/table.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { type Provider, summaryOf } from './provider.ts'
import { ErrorText, HealthBadge } from './provider-badges.tsx'
import { routeColumns } from './provider-columns.tsx'

/** One provider: its figures, its routes, and the models that only its list has. */
export function ProviderDetail({ provider }: { readonly provider: Provider }) {
  const { requests, failures, enabled, open, lastError } = summaryOf(provider)
  return (
    <div class="stack wide">
      <section class="stack" aria-label="State">
        <dl class="figures">
          <Figure label="Requests since the start">{formatCount(requests)}</Figure>
          <Figure label="Failures">{formatCount(failures)}</Figure>
          <Figure label="Open circuits">{formatCount(open)}</Figure>
          <Figure label="Enabled models">{formatCount(enabled)}</Figure>
        </dl>
        <Facts
          facts={[
            ['Last request', <HealthBadge health={provider.health} />],
            ['Kind', provider.kind],
            ['Address', <code>{visibleText(provider.base_url ?? 'built-in')}</code>],
            ['API key', provider.has_key ? 'set' : 'not set'],
            ['Lists its models', provider.discovers_models ? 'yes' : 'no'],
            ['Last error', <ErrorText error={lastError} />],
          ]}
        />
      </section>
      <section class="stack" aria-label="Routes of the provider">
        <h2>Routes</h2>
        <Table
          label="Routes"
          columns={routeColumns}
          rows={provider.routes}
          rowKey={({ model, upstream_model }) => `${model} ${upstream_model}`}
          initialSort={{ column: 'requests', direction: 'descending' }}
          empty={<p class="quiet">No model has a route to this provider.</p>}
        />
      </section>
      <DiscoveredModels names={provider.discovered_models} />
    </div>
  )
}

/** A provider such as an aggregator lists thousands; the routes have them all. */
const maxShown = 100

function DiscoveredModels({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <section class="stack" aria-labelledby="provider-discovered">
      <h2 id="provider-discovered">
        Discovered models <small class="quiet">{formatCount(names.length)}</small>
      </h2>
      <div class="badges wrap">
        {names.slice(0, maxShown).map((name) => (
          <span key={name} class="badge neutral">
            <bdi>{visibleText(name)}</bdi>
          </span>
        ))}
      </div>
      {names.length > maxShown && (
        <p class="quiet">{formatCount(names.length - maxShown)} more are among the routes.</p>
      )}
    </section>
  )
}
