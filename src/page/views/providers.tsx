import type { Provider } from '../api/objects.ts'
import { Badges, Facts, Figure } from '../components/facts.tsx'
import { formatCount, visibleText } from '../components/format.ts'
import { Table } from '../components/table.tsx'
import { Empty, Failure, Loading, Section, ViewHeader } from '../components/view.tsx'
import { type PageRoute, routeHash } from '../route.ts'
import {
  ErrorText,
  HealthBadge,
  LastTime,
  providerColumns,
  routeColumns,
  summaryOf,
  useProviders,
} from './provider-columns.tsx'
import { ProviderProblem, TestButton } from './provider-problem.tsx'

const refreshMs = 5000

/** The providers view: health, circuits and errors, for the operator. */
export function Providers({ path: [name] }: PageRoute) {
  const { value, failure, reload } = useProviders(refreshMs)
  return (
    <>
      <ViewHeader
        title={name === undefined ? 'Providers' : visibleText(name)}
        back={name === undefined ? undefined : { href: routeHash('providers'), label: '← All providers' }}
      >
        <span class="quiet">Refreshed every 5 s</span>
      </ViewHeader>
      <div class="stack">
        {failure && <Failure failure={failure} retry={reload} />}
        {value === undefined && failure === undefined && <Loading lines={10} />}
        {value && <Content providers={value} name={name} onTested={reload} />}
      </div>
    </>
  )
}

function Content(props: {
  readonly providers: readonly Provider[]
  readonly name: string | undefined
  readonly onTested: () => void
}) {
  const { providers, name, onTested } = props
  if (name === undefined)
    return (
      <>
        {providers.map((provider) => (
          <ProviderProblem key={provider.id} provider={provider} onTested={onTested} />
        ))}
        <ProviderTable providers={providers} />
      </>
    )
  const provider = providers.find(({ id }) => id === name)
  if (provider !== undefined) return <ProviderDetail provider={provider} onTested={onTested} />
  return (
    <Empty
      title="There is no such provider"
      text="The settings do not have it, and no engine with this name was found."
    >
      <a href={routeHash('providers')}>See all providers</a>
    </Empty>
  )
}

function ProviderTable({ providers }: { readonly providers: readonly Provider[] }) {
  return (
    <Table
      label="Providers"
      columns={providerColumns}
      rows={providers}
      rowKey={({ id }) => id}
      rowHref={({ id }) => routeHash('providers', [id])}
      initialSort={{ column: 'name', direction: 'ascending' }}
      empty={
        <Empty title="No providers are configured">
          <p>
            Set an API key such as <code>OPENAI_API_KEY</code>, or add a provider to <code>weir.yaml</code>.
          </p>
        </Empty>
      }
    />
  )
}

/** One provider: its state, its routes, and the models that only its list has. */
function ProviderDetail(props: { readonly provider: Provider; readonly onTested: () => void }) {
  const { provider, onTested } = props
  return (
    <div class="stack wide">
      <ProviderState provider={provider} onTested={onTested} />
      <Section title="Routes" label="Routes of the provider">
        <Table
          label="Routes"
          columns={routeColumns}
          rows={provider.routes}
          rowKey={({ model, upstream_model }) => `${model} ${upstream_model}`}
          initialSort={{ column: 'requests', direction: 'descending' }}
          empty={<p class="quiet">No model has a route to this provider.</p>}
        />
      </Section>
      <DiscoveredModels names={provider.discovered_models} />
    </div>
  )
}

function ProviderState(props: { readonly provider: Provider; readonly onTested: () => void }) {
  const { provider, onTested } = props
  const { slots } = provider
  const { requests, failures, enabled, open, lastError } = summaryOf(provider)
  return (
    <section class="stack" aria-label="State">
      <ProviderProblem provider={provider} onTested={onTested} />
      <dl class="figures">
        <Figure label="Requests since the start">{formatCount(requests)}</Figure>
        <Figure label="Failures">{formatCount(failures)}</Figure>
        <Figure label="Open circuits">{formatCount(open)}</Figure>
        <Figure label="Enabled models">{formatCount(enabled)}</Figure>
        {slots && <Figure label="Slots in use">{`${slots.in_use} of ${slots.concurrency}`}</Figure>}
        {slots && <Figure label="Waiting">{formatCount(slots.waiting)}</Figure>}
      </dl>
      <Facts
        facts={[
          ['State', <HealthBadge health={provider.health} />],
          ['Kind', provider.kind],
          ['Address', <code>{visibleText(provider.base_url ?? 'built-in')}</code>],
          ['API key', provider.has_key ? 'set' : 'not set'],
          ['Lists its models', provider.discovers_models ? 'every minute' : 'no'],
          ['Last check', <LastTime at={provider.last_check_at} />],
          ['Last error', <ErrorText error={lastError} />],
        ]}
      />
      {provider.problem === null && (
        <div>
          <TestButton provider={provider} onTested={onTested} />
        </div>
      )}
    </section>
  )
}

/** A provider such as an aggregator lists thousands; the routes have them all. */
const maxShown = 100

function DiscoveredModels({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <Section title="Discovered models" note={formatCount(names.length)}>
      <Badges texts={names.slice(0, maxShown)} />
      {names.length > maxShown && (
        <p class="quiet">{formatCount(names.length - maxShown)} more are among the routes.</p>
      )}
    </Section>
  )
}
