import { noListing } from '../model-listing.ts'
import type { RemoteKind } from '../provider.ts'
import { cerebras } from '../protocols/openai-chat/dialects/cerebras.ts'
import { deepseek } from '../protocols/openai-chat/dialects/deepseek.ts'
import { groq } from '../protocols/openai-chat/dialects/groq.ts'
import { mistral } from '../protocols/openai-chat/dialects/mistral.ts'
import { ollama } from '../protocols/openai-chat/dialects/ollama.ts'
import { openai } from '../protocols/openai-chat/dialects/openai.ts'
import { openrouter } from '../protocols/openai-chat/dialects/openrouter.ts'
import { perplexity } from '../protocols/openai-chat/dialects/perplexity.ts'
import { plain } from '../protocols/openai-chat/dialects/plain.ts'
import { snowflake } from '../protocols/openai-chat/dialects/snowflake.ts'
import { xai } from '../protocols/openai-chat/dialects/xai.ts'
import { zai } from '../protocols/openai-chat/dialects/zai.ts'
import type { Dialect } from '../protocols/openai-chat/dialect.ts'
import { openaiChat } from '../protocols/openai-chat/protocol.ts'
import { bearer } from './bearer.ts'
import { ollamaListing } from './ollama-listing.ts'

/** The kinds that answer at `/chat/completions` behind their base and take the key as a bearer token. */
export const openaiChatKinds: readonly RemoteKind[] = [
  service(openai('openai'), 'https://api.openai.com/v1', 'OPENAI_API_KEY'),
  service(openrouter, 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  service(groq, 'https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  service(mistral, 'https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  service(deepseek, 'https://api.deepseek.com', 'DEEPSEEK_API_KEY'),
  service(xai, 'https://api.x.ai/v1', 'XAI_API_KEY'),
  service(plain('together'), 'https://api.together.xyz/v1', 'TOGETHER_API_KEY'),
  service(plain('fireworks'), 'https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
  service(cerebras, 'https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  unlisted(service(perplexity, 'https://api.perplexity.ai', 'PERPLEXITY_API_KEY')),
  service(zai, 'https://api.z.ai/api/paas/v4', 'ZAI_API_KEY', 'ZHIPU_API_KEY'),
  service(plain('huggingface'), 'https://router.huggingface.co/v1', 'HF_TOKEN'),
  // The address of an account or a region is the operator's to give.
  unlisted(service(snowflake, undefined, 'SNOWFLAKE_CORTEX_PAT')),
  unlisted(service(plain('bedrock'), undefined, 'AWS_BEARER_TOKEN_BEDROCK')),
  { ...engine(ollama, 'http://127.0.0.1:11434/v1'), listing: ollamaListing },
  engine(plain('lmstudio'), 'http://127.0.0.1:1234/v1'),
  engine(plain('vllm'), 'http://127.0.0.1:8000/v1'),
  engine(plain('llamacpp'), 'http://127.0.0.1:8080/v1'),
  engine(plain('openai-compatible'), undefined),
]

function service(dialect: Dialect, baseUrl: string | undefined, ...keyVariables: string[]): RemoteKind {
  const { name } = dialect
  const path = () => '/chat/completions'
  return { name, baseUrl, keyVariables, protocol: openaiChat(dialect), path, authorize: bearer }
}

/** One that lists its models nowhere behind its base. */
function unlisted(kind: RemoteKind): RemoteKind {
  return { ...kind, listing: noListing }
}

/** An engine of the operator's own, which may want a key or none. */
function engine(dialect: Dialect, baseUrl: string | undefined): RemoteKind {
  return { ...service(dialect, baseUrl), keyless: true }
}
