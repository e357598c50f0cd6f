import type { RemoteKind } from '../provider.ts'
import { responses } from '../protocols/responses/protocol.ts'

/** The kinds whose providers or engines have a Responses API beside their chat completions. */
export const responsesKinds: readonly string[] = [
  'openai',
  'azure',
  'openrouter',
  'groq',
  'deepseek',
  'xai',
  'fireworks',
  'huggingface',
  'bedrock',
  'ollama',
  'lmstudio',
  'vllm',
  'llamacpp',
  'openai-compatible',
]

/** The kind with its Responses API in place of chat completions, which stands beside them. */
export function withResponsesApi(kind: RemoteKind): RemoteKind {
  return {
    ...kind,
    protocol: responses,
    // Azure has it at the address that needs no version.
    path: (target, { baseUrl }) => kind.path(target, { baseUrl }).replace('/chat/completions', '/responses'),
  }
}
