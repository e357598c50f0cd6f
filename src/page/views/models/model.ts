import { decimalText } from '../../components/money.tsx'
import { formatUsd, parseUsd } from '../../../lib/usd.ts'

/** Prices in USD per million tokens, or per request or image; null where they are unknown. */
export type Prices = Readonly<
  Record<
    'input' | 'output' | 'cache_read' | 'cache_write' | 'request' | 'image',
    number | string | null | undefined
  >
>

/** A model as the API lists it. */
export type Model = {
  readonly slug: string
  readonly display_name: string
  readonly provider?: string
  readonly author: string
  readonly owned_by: string
  readonly created: number
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
  readonly performance: Performance | null
}

type Performance =
  | { readonly kind: 'base'; readonly fast?: FastMode }
  | { readonly kind: 'variant'; readonly variant_of: string }

type FastMode = { readonly strategy: string; readonly target_slug?: string; readonly pricing: Prices }

/** Formats a price exactly: `$2.50`; undefined where it is unknown. */
export function formatPrice(price: number | string | null | undefined): string | undefined {
  if (price === null || price === undefined) return undefined
  const nanos = parseUsd(decimalText(price))
  return nanos === undefined ? undefined : `$${formatUsd(nanos)}`
}

/** What a model can do beyond text, as short words. */
export function capabilitiesOf(model: Model): readonly string[] {
  const { input_modalities, output_modalities, supported_parameters, reasoning } = model
  return [
    ...(reasoning === null ? [] : ['reasoning']),
    ...(supported_parameters.includes('tools') ? ['tools'] : []),
    ...input_modalities.filter((modality) => modality !== 'text').map((modality) => `${modality} input`),
    ...output_modalities.filter((modality) => modality !== 'text').map((modality) => `${modality} output`),
  ]
}
