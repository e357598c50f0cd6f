import { useMemo } from 'preact/hooks'
import { type Resource, useResource } from '../../api/use-resource.ts'
import type { ComboboxOption } from '../../components/combobox.tsx'
import type { ModelPrices } from '../../generation/cost.ts'
import { useApi } from '../../session/session.tsx'

/** What the playground uses of a model. */
export type PlaygroundModel = {
  readonly id: string
  readonly pricing: ModelPrices | null
  readonly supported_apis: readonly string[]
  readonly reasoning: { readonly supported_efforts?: readonly string[] | null } | null
}

/** The models that can take part in a conversation. */
export function useModels(): Resource<readonly PlaygroundModel[]> {
  const api = useApi()
  return useResource(
    async (signal) => {
      const { data } = await api.get<{ readonly data: readonly PlaygroundModel[] }>('/v1/models', { signal })
      return data.filter(
        ({ supported_apis: apis }) =>
          apis.length === 0 || apis.includes('chat') || apis.includes('responses'),
      )
    },
    [api],
  )
}

/** The models as the options of a combobox, with their prices for a million tokens. */
export function useModelOptions(models: readonly PlaygroundModel[]): readonly ComboboxOption[] {
  return useMemo(
    () => models.map(({ id, pricing }) => ({ value: id, detail: priceLabel(pricing) })),
    [models],
  )
}

function priceLabel(pricing: ModelPrices | null): string {
  if (pricing === null || pricing.input === null) return 'no price'
  return pricing.input === 0 && !pricing.output ? 'free' : `$${pricing.input} / $${pricing.output ?? 0}`
}
