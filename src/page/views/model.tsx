import { formatUsd, parseUsd } from '../../lib/usd.ts'
import type { Prices } from '../api/answer.ts'
import type { Model } from '../api/objects.ts'
import { Badge, Foreign } from '../components/facts.tsx'
import { decimalText, formatCount, formatShort } from '../components/format.ts'
import { type Column, column, nameColumn } from '../components/table-columns.tsx'

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
