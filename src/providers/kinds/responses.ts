import { responses } from '../protocols/responses/protocol.ts'
import type { Kind, RemoteKind } from '../provider.ts'

/** True for a kind that offers the Responses API beside its chat completions. */
export function hasResponsesApi(kind: Kind): boolean {
  return 'protocol' in kind && kind.responsesApi === true
}

/** The kind with the Responses API in place of chat completions. */
export function withResponsesApi(kind: RemoteKind): RemoteKind {
  return {
    ...kind,
    protocol: responses,
    // Azure serves it at the URL without a version.
    path: (target, { baseUrl }) => kind.path(target, { baseUrl }).replace('/chat/completions', '/responses'),
  }
}
