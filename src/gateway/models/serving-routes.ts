import type { Generation, ProviderTool } from '../../domain/generation/request.ts'
import { unsupportedSentence } from '../../domain/generation/warnings.ts'
import { tokenIdsNotSupported, unsupportedParameter } from '../../lib/errors/errors.ts'
import type { RemoteKind } from '../../providers/provider.ts'
import type { CapabilityOptions } from './enforce-capabilities.ts'
import { type Model, type ModelRoute, offeredOperation } from './model.ts'
import { unofferedOperation } from './require-model.ts'

/** A request, and its model with the routes that can serve it. */
type ServedGeneration = { readonly model: Model; readonly generation: Generation }

/**
 * Selects the routes that offer the request's operation and support all of its provider tools. Where there is none, the
 * operation is rejected with 400, and the tools are rejected, or dropped with a warning. A model without routes stays
 * as it is: its own error says more.
 */
export function selectRoutes(
  model: Model,
  generation: Generation,
  { unsupported, warn }: Pick<CapabilityOptions, 'unsupported' | 'warn'>,
): ServedGeneration {
  const { operation, providerTools = [] } = generation
  if (model.routes.length === 0 || (operation === undefined && providerTools.length === 0))
    return { model, generation }
  const offering = routesOffering(model, generation)
  const routes = offering.filter((route) => providerTools.every((tool) => supportsTool(route, tool)))
  if (routes.length > 0) return { model: { ...model, routes }, generation }
  const [tool] = providerTools.filter(
    (candidate) => !offering.some((route) => supportsTool(route, candidate)),
  )
  if (unsupported === 'reject' || tool === undefined) throw toolNotSupported(model, tool ?? providerTools[0])
  warn(
    unsupportedSentence({ what: 'Tool', by: model.slug }, [
      ...new Set(providerTools.map(({ name }) => name)),
    ]),
  )
  return {
    model: { ...model, routes: offering },
    generation: { ...generation, providerTools: [], source: undefined },
  }
}

/** The kind with the protocol and the path of the generation's operation. */
export function kindFor(kind: RemoteKind, { operation }: Generation): RemoteKind {
  return operation === undefined ? kind : { ...kind, ...kind.operations?.[operation] }
}

/** The routes that offer the operation of the request, for inputs of its kind; throws the error where there is none. */
function routesOffering(model: Model, generation: Generation): readonly ModelRoute[] {
  const { operation, inputs = [] } = generation
  if (operation === undefined) return model.routes
  const offering = model.routes.filter((route) => offeredOperation(route, operation))
  if (offering.length === 0) throw unofferedOperation(model, generation)
  if (inputs.every((input) => typeof input === 'string')) return offering
  const accepting = offering.filter((route) => !offeredOperation(route, operation)?.textOnly)
  if (accepting.length > 0) return accepting
  throw tokenIdsNotSupported(model.slug, operation === 'embedding' ? 'input' : 'prompt')
}

function supportsTool({ provider: { kind } }: ModelRoute, tool: ProviderTool): boolean {
  return 'protocol' in kind && kind.protocol.name === tool.protocol
}

function toolNotSupported({ slug }: Model, tool: ProviderTool | undefined): Error {
  const { name = 'tools', param = 'tools' } = tool ?? {}
  return unsupportedParameter(`Unsupported tool: '${name}' is not supported by ${slug}.`, param)
}
