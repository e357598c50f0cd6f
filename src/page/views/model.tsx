import { formatUsd, parseUsd } from '../../lib/usd.ts'
import type { Prices } from '../api/answer.ts'
import { Badge, Foreign } from '../components/facts.tsx'
import { decimalText, formatCount, formatShort } from '../components/format.ts'
import { type Column, column, nameColumn } from '../components/table-columns.tsx'

/** A model as the API lists it. */
export type Model = {
  readonly slug: string
  readonly display_name: string
  readonly provider?: string
  /** In the order in which they are tried; the weights are null where they are not set. */
  readonly routes: readonly { readonly provider: string; readonly weight: number | null }[]
  readonly author: string
  readonly owned_by: string
  /** A date, `YYYY-MM-DD`; null where it is unknown. */
  readonly released: string | null
  /** The day on which its provider stops serving it; null where none is announced. */
  readonly shutdown_date: string | null
  readonly context_window: number | null
  readonly max_output_tokens: number | null
  readonly pricing: Prices | null
  readonly input_modalities: readonly string[]
  readonly output_modalities: readonly string[]
  readonly supported_parameters: readonly string[]
  readonly supported_apis: readonly string[]
  readonly reasoning: {
    readonly supported_efforts: readonly string[]
    readonly default_effort: string | null
    readonly mandatory: boolean | null
  } | null
  readonly performance:
    | { readonly kind: 'base'; readonly fast?: { readonly pricing: Prices } }
    | { readonly kind: 'variant'; readonly variant_of: string }
    | null
}

/** Formats a price exactly: `$2.50`; undefined where it is unknown. */
export function formatPrice(price: number | string | null | undefined): string | undefined {
  if (price === null || price === undefined) return undefined
  const nanos = parseUsd(decimalText(price))
  return nanos === undefined ? undefined : `$${formatUsd(nanos)}`
}

/** The abilities of a model beyond text, as short words. */
export function capabilitiesOf(model: Model): readonly string[] {
  const { input_modalities, output_modalities, supported_parameters, reasoning } = model
  return [
    ...(reasoning === null ? [] : ['reasoning']),
    ...(supported_parameters.includes('tools') ? ['tools'] : []),
    ...input_modalities.filter((modality) => modality !== 'text').map((modality) => `${modality} input`),
    ...output_modalities.filter((modality) => modality !== 'text').map((modality) => `${modality} output`),
  ]
}

/** The columns of the list of models. */
export const modelColumns: readonly Column<Model>[] = [
  nameColumn('model', 'Model', ({ slug }) => slug),
  column(
    'provider',
    'Provider',
    ({ provider }) => (provider === undefined ? '–' : <Foreign text={provider} />),
    { sortValue: ({ provider }) => provider ?? null },
  ),
  column(
    'context',
    'Context',
    ({ context_window: tokens }) =>
      tokens === null ? '–' : <span title={`${formatCount(tokens)} tokens`}>{formatShort(tokens)}</span>,
    { align: 'right', sortValue: ({ context_window: tokens }) => tokens },
  ),
  priceColumn('input', 'Input'),
  priceColumn('cache_read', 'Cached'),
  priceColumn('output', 'Output'),
  column('capabilities', 'Capabilities', (model) => (
    <span class="badges">
      {capabilitiesOf(model).map((capability) => (
        <Badge key={capability}>{capability}</Badge>
      ))}
    </span>
  )),
  column('apis', 'APIs', ({ supported_apis }) => supported_apis.map(shortApi).join(', ')),
]

function priceColumn(id: keyof Prices, header: string): Column<Model> {
  return column(id, header, ({ pricing }) => formatPrice(pricing?.[id]) ?? '–', {
    align: 'right',
    sortValue: ({ pricing }) => {
      const price = pricing?.[id]
      return price === null || price === undefined ? null : Number(price)
    },
  })
}

/** Chat completions are what most clients use. */
function shortApi(api: string): string {
  return api === 'chat_completions' ? 'chat' : api
}
