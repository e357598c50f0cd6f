import type { ModelDetails } from '../../config/model-details.ts'
import { conversationApis, type ModelApi, parameters } from '../../domain/generation/parameters.ts'
import type { Kind } from '../../providers/provider.ts'
import type { ModelRoute } from './model.ts'

/** The APIs of the model: those of the settings or the catalog, else conversations, and completions at an engine. */
export function supportedApisOf(
  { supported_apis: configured }: ModelDetails,
  routes: readonly ModelRoute[],
): readonly ModelApi[] {
  if (configured !== undefined) return [...new Set(configured)]
  return routes.some(({ provider }) => isCompletionEngine(provider.kind))
    ? [...conversationApis, 'completions']
    : conversationApis
}

/** An engine that the operator runs serves completions of any model; other providers serve those of a few. */
function isCompletionEngine(kind: Kind): boolean {
  return 'protocol' in kind && kind.keyless === true && kind.operations?.completion !== undefined
}

/** The parameters that the protocol of a provider supports in the APIs of the model. */
export function protocolParameters(apis: readonly ModelApi[], kind: Kind | undefined): Iterable<string> {
  if (kind === undefined) return isConversational(apis) ? parameters : []
  if (!('protocol' in kind)) return kind.parameters
  if (isConversational(apis)) return kind.protocol.parameters
  const operation = apis.includes('completions') ? 'completion' : 'embedding'
  return kind.operations?.[operation]?.protocol.parameters ?? []
}

function isConversational(apis: readonly ModelApi[]): boolean {
  return conversationApis.some((api) => apis.includes(api))
}
