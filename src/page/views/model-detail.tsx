import type { Prices } from '../api/answer.ts'
import type { Model } from '../api/objects.ts'
import { useGet } from '../api/resource.ts'
import { CopyButton } from '../components/button.tsx'
import { Badges, Facts, Foreign, type LabelledFact } from '../components/facts.tsx'
import { formatCount, visibleText } from '../components/format.ts'
import { Icon } from '../components/icon.tsx'
import { Loaded, Section, ViewHeader } from '../components/view.tsx'
import { routeHash } from '../route.ts'
import { useApi } from '../session.tsx'
import { capabilitiesOf, formatPrice } from './model.tsx'
import { ModelRoutes } from './model-routes.tsx'
import { ModelUsage } from './model-usage.tsx'
import { SnippetTabs } from './playground/code-dialog.tsx'
import { isConversational, modelSnippets } from './playground/snippets.ts'

/** One model. For a disabled or unknown one, the gateway says why. */
export function ModelDetail({ slug }: { readonly slug: string }) {
  const path = slug.split('/').map(encodeURIComponent).join('/')
  const model = useGet<Model>(useApi(), `/v1/models/${path}`)
  return (
    <>
      <ViewHeader
        title={visibleText(model.value?.display_name || slug)}
        back={{ href: routeHash('models'), label: '← All models' }}
      >
        <CopyButton text={slug} label="Copy the name" />
        {model.value && isConversational(model.value) && (
          <a class="button primary" href={routeHash('playground', [], { model: model.value.slug })}>
            <Icon name="playground" /> Try it
          </a>
        )}
      </ViewHeader>
      <Loaded resource={model} lines={10}>
        {(value) => <ModelFacts model={value} />}
      </Loaded>
    </>
  )
}

function ModelFacts({ model }: { readonly model: Model }) {
  const { performance } = model
  return (
    <div class="stack wide">
      <Facts facts={factsOf(model)} />
      <Section title="Prices" note="in USD per million tokens">
        <PriceTable prices={model.pricing} />
        {performance?.kind === 'base' && performance.fast && (
          <>
            <h3>Fast mode</h3>
            <PriceTable prices={performance.fast.pricing} />
          </>
        )}
        {performance?.kind === 'variant' && (
          <p>
            This is the fast variant of{' '}
            <a href={routeHash('models', [performance.variant_of])}>{performance.variant_of}</a>.
          </p>
        )}
      </Section>
      <ModelUsage slug={model.slug} />
      <ModelRoutes model={model} />
      <ModelCode model={model} />
      <BadgeSection title="Capabilities" values={capabilitiesOf(model)} none="Text only." />
      <BadgeSection title="APIs" values={model.supported_apis} none="None." />
      <BadgeSection
        title="Parameters"
        values={model.supported_parameters}
        none="It is not known which parameters are supported."
      />
    </div>
  )
}

/** A first request to the model. */
function ModelCode({ model }: { readonly model: Model }) {
  const snippets = modelSnippets(model, location.origin)
  if (snippets.length === 0) return null
  return (
    <Section title="Code">
      <SnippetTabs snippets={snippets} />
    </Section>
  )
}

function factsOf(model: Model): readonly LabelledFact[] {
  const { reasoning } = model
  return [
    ['Name', <code>{visibleText(model.slug)}</code>],
    ['Provider', <bdi>{model.provider ?? '–'}</bdi>],
    ['Owner', <Foreign text={model.owned_by} />],
    ['Context window', tokens(model.context_window)],
    ['Output limit', tokens(model.max_output_tokens)],
    ['Input', model.input_modalities.join(', ')],
    ['Output', model.output_modalities.join(', ')],
    reasoning !== null && ['Reasoning effort', effortsOf(reasoning)],
    model.released !== null && ['Released', <Day date={model.released} />],
    model.shutdown_date !== null && ['Served until', <Day date={model.shutdown_date} />],
  ]
}

/** A date has no time zone: it is the same day everywhere. */
function Day({ date }: { readonly date: string }) {
  return <time dateTime={date}>{dayFormat.format(new Date(date))}</time>
}

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

function tokens(count: number | null): string {
  return count === null ? 'Unknown' : `${formatCount(count)} tokens`
}

function effortsOf(reasoning: NonNullable<Model['reasoning']>): string {
  const { supported_efforts: efforts, default_effort: initial, mandatory } = reasoning
  if (efforts.length === 0) return mandatory === true ? 'Always reasons' : 'No levels'
  return efforts.map((effort) => (effort === initial ? `${effort} (default)` : effort)).join(', ')
}

const priceLabels = [
  ['input', 'Input'],
  ['cache_read', 'Cached input'],
  ['cache_write', 'Cache write'],
  ['input_audio', 'Audio input'],
  ['output', 'Output'],
  ['request', 'Each request'],
  ['image', 'Each image'],
] as const

/** The known prices of a model, exact. */
function PriceTable({ prices }: { readonly prices: Prices | null }) {
  const facts = priceLabels
    .map(([name, label]) => [label, formatPrice(prices?.[name])] as const)
    .filter(([, price]) => price !== undefined)
  if (facts.length === 0)
    return <p class="quiet">The price is unknown: requests are recorded without a cost.</p>
  return <Facts facts={facts} />
}

function BadgeSection(props: {
  readonly title: string
  readonly values: readonly string[]
  readonly none: string
}) {
  const { title, values, none } = props
  return (
    <Section title={title}>
      {values.length === 0 ? <p class="quiet">{none}</p> : <Badges texts={values} />}
    </Section>
  )
}
