import { fieldsOf, textOf } from '../../lib/json/json.ts'
import { defaultListing, listedIn, noListing, tokensOf } from '../model-listing.ts'
import type { Dialect } from '../protocols/openai-chat/dialect.ts'
import { deepseek } from '../protocols/openai-chat/dialects/deepseek.ts'
import { groq } from '../protocols/openai-chat/dialects/groq.ts'
import { mistral } from '../protocols/openai-chat/dialects/mistral.ts'
import { openai } from '../protocols/openai-chat/dialects/openai.ts'
import { openrouter } from '../protocols/openai-chat/dialects/openrouter.ts'
import {
  cerebras,
  fireworks,
  ollama,
  openaiCompatible,
  perplexity,
  plain,
  snowflake,
  together,
  vllm,
} from '../protocols/openai-chat/dialects/plain.ts'
import { xai } from '../protocols/openai-chat/dialects/xai.ts'
import { zai } from '../protocols/openai-chat/dialects/zai.ts'
import { openaiChat } from '../protocols/openai-chat/protocol.ts'
import { ollamaCompletions, openaiCompletions } from '../protocols/openai-completions.ts'
import type { Protocol } from '../protocols/protocol.ts'
import {
  type EmbeddingsDialect,
  mistralEmbeddings,
  openaiEmbeddings,
} from '../protocols/openai-embeddings.ts'
import { type Address, bearer, type KindOperation, type ModelListing, type RemoteKind } from '../provider.ts'

/** Ollama's list has no context window; its own API, beside the compatible one, has it for each model. */
const ollamaListing: ModelListing = {
  ...defaultListing,
  details: {
    url: (address) => besideVersion(address, '/api/show'),
    body: (model) => ({ model }),
    contextWindow: ollamaContextWindow,
  },
}

/**
 * A request of llama.cpp has the context of one slot, which depends on how the server was started; its list has that of
 * the training. A router, which has several models, must not load one for this.
 */
const llamacppListing: ModelListing = {
  ...defaultListing,
  models: (body) =>
    listedIn(fieldsOf(body).data, 'id', (entry) => tokensOf(fieldsOf(fieldsOf(entry).meta).n_ctx)),
  details: {
    url: (address, id) => besideVersion(address, `/props?model=${encodeURIComponent(id)}&autoload=false`),
    contextWindow: (body) => tokensOf(fieldsOf(fieldsOf(body).default_generation_settings).n_ctx),
    slots: (body) => tokensOf(fieldsOf(body).total_slots),
    changes: true,
  },
}

/** The URL of an engine's own API, beside the compatible one. */
function besideVersion({ baseUrl }: Address, path: string): string | undefined {
  return baseUrl.endsWith('/v1') ? baseUrl.slice(0, -'/v1'.length) + path : undefined
}

const responsesApi = true

/** The kinds that serve `/chat/completions` below their base URL and take the key as a bearer token. */
export const openaiChatKinds: readonly RemoteKind[] = [
  {
    ...service(openai('openai'), 'https://api.openai.com/v1', 'OPENAI_API_KEY'),
    responsesApi,
    operations: operationsOf('openai', { format: 'base64' }),
    maxImageTokens: openaiImageTokens,
  },
  {
    ...service(openrouter, 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
    responsesApi,
    operations: operationsOf('openrouter'),
  },
  { ...service(groq, 'https://api.groq.com/openai/v1', 'GROQ_API_KEY'), responsesApi },
  {
    ...service(mistral, 'https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
    operations: embeddingsWith(mistralEmbeddings, { textOnly: true }),
    telemetryName: 'mistral_ai',
    maxImageTokens: () => 4160,
  },
  { ...service(deepseek, 'https://api.deepseek.com', 'DEEPSEEK_API_KEY'), responsesApi },
  {
    ...service(xai, 'https://api.x.ai/v1', 'XAI_API_KEY'),
    responsesApi,
    telemetryName: 'x_ai',
    // 6 tiles and the complete image, 256 each.
    maxImageTokens: () => 1792,
  },
  {
    ...service(together, 'https://api.together.xyz/v1', 'TOGETHER_API_KEY'),
    operations: operationsOf('together', { format: 'numbers' }),
  },
  {
    ...service(fireworks, 'https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
    responsesApi,
    operations: operationsOf('fireworks', { format: 'numbers' }),
  },
  service(cerebras, 'https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  unlisted(service(perplexity, 'https://api.perplexity.ai', 'PERPLEXITY_API_KEY')),
  {
    ...service(zai, 'https://api.z.ai/api/paas/v4', 'ZAI_API_KEY', 'ZHIPU_API_KEY'),
    operations: embeddingsWith({ name: 'zai', format: 'numbers' }, { textOnly: true }),
  },
  { ...service(plain('huggingface'), 'https://router.huggingface.co/v1', 'HF_TOKEN'), responsesApi },
  // The operator configures the base URL, which depends on the account or the region.
  unlisted(service(snowflake, undefined, 'SNOWFLAKE_CORTEX_PAT')),
  {
    ...unlisted(service(plain('bedrock'), undefined, 'AWS_BEARER_TOKEN_BEDROCK')),
    responsesApi,
    telemetryName: 'aws.bedrock',
  },
  {
    ...engine(ollama, 'http://127.0.0.1:11434/v1'),
    operations: operationsOf(ollama.name, {}, ollamaCompletions),
    listing: ollamaListing,
  },
  engine(plain('lmstudio'), 'http://127.0.0.1:1234/v1'),
  engine(vllm, 'http://127.0.0.1:8000/v1'),
  { ...engine(plain('llamacpp'), 'http://127.0.0.1:8080/v1'), listing: llamacppListing },
  engine(openaiCompatible, undefined),
]

function service(dialect: Dialect, baseUrl: string | undefined, ...keyVariables: string[]): RemoteKind {
  const { name } = dialect
  const path = () => '/chat/completions'
  return { name, baseUrl, keyVariables, protocol: openaiChat(dialect), path, authorize: bearer }
}

/** A kind without a list of models below its base URL. */
function unlisted(kind: RemoteKind): RemoteKind {
  return { ...kind, listing: noListing }
}

/** An inference engine that the operator runs; the key is optional. */
function engine(dialect: Dialect, baseUrl: string | undefined): RemoteKind {
  return { ...service(dialect, baseUrl), keyless: true, responsesApi, operations: operationsOf(dialect.name) }
}

/**
 * OpenAI's documented maximum for one image: 10,000 patches, times 1.2; its small models count several times as much.
 */
export function openaiImageTokens(model: string): number {
  return /mini|nano/.test(model) ? 24_600 : 12_000
}

/** The context length that the model was trained for, or `num_ctx` of its parameters where that is smaller. */
function ollamaContextWindow(body: unknown): number | undefined {
  const { model_info, parameters } = fieldsOf(body)
  const info = fieldsOf(model_info)
  const field = Object.keys(info).find((name) => name.endsWith('.context_length'))
  const trained = field === undefined ? undefined : tokensOf(info[field])
  const [, digits] = /^num_ctx\s+(\d{1,12})\s*$/m.exec(textOf(parameters) ?? '') ?? []
  const configured = tokensOf(Number(digits))
  if (trained === undefined || configured === undefined) return trained ?? configured
  return Math.min(trained, configured)
}

type Operations = NonNullable<RemoteKind['operations']>

/** The embeddings and the completions of a provider with OpenAI's paths. */
function operationsOf(
  name: string,
  dialect: Omit<EmbeddingsDialect, 'name'> = {},
  completions: Protocol = openaiCompletions,
): Operations {
  return {
    ...embeddingsWith({ ...dialect, name }),
    completion: { protocol: completions, path: () => '/completions' },
  }
}

/** The embeddings of a provider with OpenAI's path. */
function embeddingsWith(
  dialect: EmbeddingsDialect,
  details: Pick<KindOperation, 'textOnly'> = {},
): Operations {
  return { embedding: { protocol: openaiEmbeddings(dialect), path: () => '/embeddings', ...details } }
}
