import type { Finish, GenerationEvent } from '../domain/generation/events.ts'
import type { ContainerReference, Generation } from '../domain/generation/request.ts'
import { badRequest } from '../lib/errors/errors.ts'
import { fieldsOf, textOf } from '../lib/json/json.ts'
import type { AcquireMemory } from '../lib/memory-budget.ts'
import type { ProviderState } from '../storage/ports/provider-state.ts'
import type { Model, ModelRoute } from './models/model.ts'

/** The properties of a request that select its states. */
export type StatefulRequest = {
  readonly metadata: { readonly organization: string }
  readonly model: Pick<Model, 'routes'>
  readonly generation: Generation
}

/** Anthropic keeps no container for longer. */
const lifetimeMs = 30 * 24 * 60 * 60 * 1000

/** Of a container, nothing but its provider is stored. */
const value = 'container'
/** No id is longer. */
const maxIdLength = 256

/**
 * Remembers which provider has the container that an answer named, and for which organization: all of them share the account
 * of the gateway, and the container has the files of one.
 */
export function createContainers(store: ProviderState) {
  return {
    /** The generation with the provider of its container; rejects with the 400 of one that is not the organization's. */
    async locate(
      { metadata: { organization }, model, generation }: StatefulRequest,
      container: ContainerReference,
      acquireMemory: AcquireMemory,
    ): Promise<Generation> {
      const key = keyOf(container.id)
      const providers = [...new Set(model.routes.map(({ provider }) => provider.name))]
      const query = { organization, providers, callIds: [key], maxBytes: 1024, acquireMemory }
      const { provider } = (await store.find(query)).states.get(key) ?? {}
      const { source } = generation
      if (provider === undefined || source === undefined) throw unknownContainer(container)
      return { ...generation, source: { ...source, container: { ...container, provider } } }
    },
    /** Stores the container in the batch; undefined if there is none. */
    save(
      organization: string,
      provider: string,
      batch: readonly GenerationEvent[],
    ): Promise<void> | undefined {
      const last = batch.at(-1)
      const id = last?.type === 'finish' ? containerIn(last) : undefined
      if (id === undefined) return undefined
      const expiresAt = Date.now() + lifetimeMs
      // A failure costs the next request its container; it must not cost this one its answer, which is paid for.
      return store.store({ organization, callId: keyOf(id), provider, value, expiresAt }).catch(() => {})
    },
  }
}

function containerIn({ providerFields }: Finish): string | undefined {
  if (providerFields?.protocol !== 'anthropic') return undefined
  const id = textOf(fieldsOf(providerFields.fields.container).id)
  return id !== undefined && id.length <= maxIdLength ? id : undefined
}

/** Never the id of a tool call. */
function keyOf(id: string): string {
  return `container\n${id}`
}

function unknownContainer({ param }: ContainerReference): Error {
  const message = `Unknown container in '${param}'. Send one that an answer of this model to your organization has named in the last 30 days, or none: then a new one is created.`
  return badRequest(message, 'invalid_value', param)
}

/** The routes to the provider that has the container of the request; all of them where it names none. */
export function routesToContainer(
  routes: readonly ModelRoute[],
  { source }: Generation,
): readonly ModelRoute[] {
  const name = source?.container?.provider
  return name === undefined ? routes : routes.filter(({ provider }) => provider.name === name)
}
