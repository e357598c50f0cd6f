import type { ModelDetails } from '../../../../src/config/model-details.ts'
import type { ModelsInput } from '../../../../src/gateway/models/model-sources.ts'
import { createModels } from '../../../../src/gateway/models/models.ts'
import { kinds } from '../../../../src/providers/kinds/kinds.ts'
import type { Kind, Provider } from '../../../../src/providers/provider.ts'

/** A kind that the table has; a test that names another is wrong. */
export function kindNamed(name: string): Kind {
  const kind = kinds[name]
  if (!kind) throw new Error(`There is no kind ${name}.`)
  return kind
}

/** A configured provider of that name. */
export function provider(name: string, fields: Partial<Provider> = {}): Provider {
  return {
    name,
    kind: kindNamed('openai-compatible'),
    baseUrl: 'http://127.0.0.1:1/v1',
    headers: {},
    timeouts: { connect: 1000, firstByte: 1000, idle: 1000 },
    discover: false,
    ...fields,
  }
}

/** A catalog of three models: one of `alpha`, one of `beta`, and one of `alpha` that is not for chat. */
export const catalog: readonly ModelDetails[] = [
  {
    slug: 'alpha/one',
    display_name: 'One',
    released: '2026-01-02',
    context_window: 1000,
    pricing: { input: 1, output: 2, cache_read: 0.1, tiers: [{ above: 500, input: 3 }] },
    supported_parameters: ['temperature'],
    routes: [{ provider: 'alpha', model: 'one-id' }],
  },
  { slug: 'beta/two', routes: [{ provider: 'beta', model: 'two' }] },
  { slug: 'alpha/vectors', enabled: false, routes: [{ provider: 'alpha', model: 'vectors' }] },
]

/** The models with `alpha` configured and `beta` without a key, by default. */
export function modelsWith(settings: readonly ModelDetails[] = [], fields: Partial<ModelsInput> = {}) {
  return createModels({
    catalog,
    settings,
    providers: providersOf(provider('alpha')),
    discovered: new Map(),
    firstSeen: () => 77,
    now: Date.UTC(2026, 10, 25),
    ...fields,
  })
}

/** Models as their provider lists them, with nothing but their ids. */
export const listed = (...ids: string[]) => ids.map((id) => ({ id }))

/** These are configured; `beta` is missing unless it is among them. */
export function providersOf(...configured: Provider[]): ModelsInput['providers'] {
  const names = new Map(configured.map((one) => [one.name, one]))
  return { configured: names, missing: new Map(names.has('beta') ? [] : [['beta', 'Set BETA_API_KEY.']]) }
}
