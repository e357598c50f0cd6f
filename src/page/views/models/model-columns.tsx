import { Badge } from '../../components/badge.tsx'
import { formatCount, formatShort } from '../../components/format.ts'
import type { Column } from '../../components/table.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { capabilitiesOf, formatPrice, type Model, type Prices } from './model.ts'

/** The columns of the list of models. */
export const modelColumns: readonly Column<Model>[] = [
  {
    id: 'model',
    header: 'Model',
    render: ({ slug }) => <bdi>{visibleText(slug)}</bdi>,
    sortValue: ({ slug }) => slug,
  },
  {
    id: 'provider',
    header: 'Provider',
    render: ({ provider }) => (provider === undefined ? '–' : <bdi>{visibleText(provider)}</bdi>),
    sortValue: ({ provider }) => provider ?? null,
  },
  {
    id: 'context',
    header: 'Context',
    align: 'right',
    render: ({ context_window: tokens }) =>
      tokens === null ? '–' : <span title={`${formatCount(tokens)} tokens`}>{formatShort(tokens)}</span>,
    sortValue: ({ context_window: tokens }) => tokens,
  },
  priceColumn('input', 'Input'),
  priceColumn('cache_read', 'Cached'),
  priceColumn('output', 'Output'),
  {
    id: 'capabilities',
    header: 'Capabilities',
    render: (model) => (
      <span class="badges">
        {capabilitiesOf(model).map((capability) => (
          <Badge key={capability}>{capability}</Badge>
        ))}
      </span>
    ),
  },
  {
    id: 'apis',
    header: 'APIs',
    render: ({ supported_apis }) => supported_apis.map(shortApi).join(', '),
  },
]

/** Chat completions are what most clients use. */
function shortApi(api: string): string {
  return api === 'chat_completions' ? 'chat' : api
}

function priceColumn(id: keyof Prices, header: string): Column<Model> {
  return {
    id,
    header,
    align: 'right',
    render: ({ pricing }) => formatPrice(pricing?.[id]) ?? '–',
    sortValue: ({ pricing }) => {
      const price = pricing?.[id]
      return price === null || price === undefined ? null : Number(price)
    },
  }
}
