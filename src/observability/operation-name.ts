import type { Api } from '../domain/accounting/request-metadata.ts'

/** OpenTelemetry's value of `gen_ai.operation.name` for a request of the API. */
export function operationName(api: Api | undefined): 'chat' | 'text_completion' | 'embeddings' {
  if (api === 'embeddings') return 'embeddings'
  return api === 'completions' ? 'text_completion' : 'chat'
}
